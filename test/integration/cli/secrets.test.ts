import { describe, expect, test } from 'vitest'
import { runPetstore } from '../../support/petstore-command.ts'

const TOKEN = 'pet_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABC'
const SECRETS = ['hunter2', 'w0rd', TOKEN]
const ADDRESS = 'http://me:hunter2@127.0.0.1:1'

/** Bad values that contain a secret, by flag. */
const badKeys = ['hunter2', `pro=${TOKEN},hunter2`, `pro=${TOKEN}\r\n!`, 'hunter2=pro', `pro=${TOKEN},pro=${TOKEN}`]
const badAddresses = [
  ADDRESS,
  'me:hunter2@a:5432',
  'http://a/?password=hunter2',
  'me:hunter2@a',
  'postgres://me:1?w0rd@a',
  'redis://me:1#w0rd@a',
  'http://me:hun/ter2@a',
]
const badSecrets = ['hunter2', `hunter2/${TOKEN}`, `${TOKEN} `, `${TOKEN}é`]
const badTokens = [`${TOKEN}\r\n`, 'hunter2 ', `${TOKEN}é`]

/** Each flag, its command with the other flags that the command needs, and bad values of the flag. */
const commands: readonly (readonly [flag: string, command: readonly string[], values: readonly string[]])[] = [
  ['--key', ['serve'], badKeys],
  ['--public-url', ['serve'], badAddresses],
  ['--cors', ['serve'], badAddresses],
  ['--trust-proxy', ['serve'], [...badAddresses, 'hunter2', TOKEN]],
  ['--host', ['serve', '--port', '0'], [...badAddresses, 'hunter2', 'a:hunter2']],
  ['--base-path', ['serve'], badAddresses],
  ['--database-url', ['serve'], badAddresses],
  ['--database-url', ['keys', 'list'], badAddresses],
  ['--redis-url', ['serve'], badAddresses],
  ['--data', ['serve'], [...badAddresses, `/${TOKEN}/hidden`]],
  ...['--port', '--seed', '--body-limit', '--log', '--control-port', '--plan-limits'].map(
    (flag) => [flag, ['serve'], ['hunter2', TOKEN]] as const,
  ),
  ['--control-secret', ['serve'], badSecrets],
  ['--control-host', ['serve', '--port', '0', '--control-port', '0'], [...badAddresses, 'hunter2']],
  ['--key', ['check', 'http://127.0.0.1:1/v1'], badTokens],
  ['--limited-key', ['check', 'http://127.0.0.1:1/v1', '--key', 'x'], badTokens],
  ['--read-only-key', ['check', 'http://127.0.0.1:1/v1', '--key', 'x'], badTokens],
]

const variableOf = (flag: string, [command]: readonly string[]) =>
  `PETSTORE_${command === 'check' ? 'CHECK_' : ''}${flag.slice(2).toUpperCase().replaceAll('-', '_')}`

async function expectNoSecret(args: readonly string[], env = {}) {
  const { code, stdout, stderr } = await runPetstore(args, env)
  expect({ args, code, stdout }).toEqual({ args, code: args[0] === 'check' ? 2 : 1, stdout: '' })
  expect(stderr).toMatch(/^petstore: [^\n]+\n$/)
  for (const secret of SECRETS) expect(stderr).not.toContain(secret)
}

describe('the errors of the command', () => {
  test.each(commands)(
    'the error about an invalid %s of the command %j shows no secret',
    async (flag, command, values) => {
      for (const value of values) {
        await expectNoSecret([...command, `${flag}=${value}`])
        if (flag !== '--control-port') await expectNoSecret(command, { [variableOf(flag, command)]: value })
      }
    },
  )

  test.each([
    [['serve', '--port', '0', '--control-secret', TOKEN]],
    [['serve', '--port', '0', '--control-port', '0', '--control-host', '0.0.0.0', '--control-secret', TOKEN]],
    [['serve', '--port', '0', '--control-port', '0', '--control-secret', TOKEN, '--data', `/${TOKEN}`]],
    [['check', ADDRESS, '--key', 'x']],
    [['check', `${ADDRESS}/v1`, '--key', 'x']],
    [['check', 'http://127.0.0.1:1/v1?key=hunter2', '--key', 'x']],
    [['openapi', '--public-url', ADDRESS]],
    [['serve', `--token=${TOKEN}`]],
    [['serve', '-khunter2']],
    [['serve', '--hunter2']],
    [['keys', 'revoke', 'hunter2', '--data', import.meta.filename]],
    [['keys', 'update', 'hunter2', '--plan', 'hunter2', '--data', import.meta.filename]],
    [[TOKEN]],
    [['keys', 'hunter2']],
    [['keys', 'issue', '--plan', 'hunter2', '--data', 'x.db']],
  ])('an error about wrong arguments shows no secret', (args) => expectNoSecret(args))
})
