import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../../adapters/back-ends/redis/connection.ts'
import { type RedisClient, redis } from '../../../adapters/back-ends/redis/index.ts'
import { script } from '../../../adapters/back-ends/redis/script.ts'

const limits = { perMinute: 5, perDay: 10 }
const request = { subject: 'key:a', anonymous: false, limits, ban: false, now: 0 } as const

describe('a failure of Redis', () => {
  const failing = (message: string) => redis(() => Promise.reject(new Error(message))).quota.spend(request)

  test.each([
    'Connection is closed.',
    'The client is closed',
    'Socket closed unexpectedly',
    'Command timed out',
    'Reached the max retries per request limit (which is 1). Refer to "maxRetriesPerRequest" option for details.',
    'LOADING Redis is loading the dataset in memory',
    "READONLY You can't write against a read only replica.",
    "ERR Error running script (call to f_1): @user_script:45: @user_script: 45: -READONLY You can't write.",
    "OOM command not allowed when used memory > 'maxmemory'.",
    'CLUSTERDOWN Hash slot not served',
    'ERR max number of clients reached',
    'ERR max daily request limit exceeded. Limit: 10000, Usage: 10001.',
    'ERR max requests limit exceeded. Limit: 500000, Usage: 500000.',
  ])('an error with the message %s becomes service_unavailable', async (message) => {
    await expect(failing(message)).rejects.toMatchObject({ code: 'service_unavailable' })
  })

  test.each([
    'WRONGTYPE Operation against a key holding the wrong kind of value',
    'NOAUTH Authentication required.',
    "ERR unknown command 'EVALSHA'",
  ])('an error with the message %s is thrown unchanged', async (message) => {
    await expect(failing(message)).rejects.toThrow(message)
    await expect(failing(message)).rejects.not.toHaveProperty('status')
  })

  test('an error contains no arguments of the Redis command', async () => {
    // The first command that ioredis sends contains the password.
    const command = { name: 'hello', args: ['3', 'AUTH', 'default', 'secret'] }
    const error = Object.assign(new Error('WRONGPASS invalid username-password pair'), { command })
    const around = new Error('gave up', { cause: Object.assign(new Error('inner'), { command }) })
    const failed = async (failure: Error) => {
      try {
        return await redis(() => Promise.reject(failure)).quota.spend(request)
      } catch (thrown) {
        return thrown
      }
    }
    for (const failure of [error, around]) {
      const shown = inspect(await failed(failure), { depth: 9 })
      expect(shown).not.toContain('secret')
      expect(shown).toContain('hello')
    }
  })

  test('a Redis error becomes service_unavailable, also a frozen or cyclic one', async () => {
    const refused = (text: string) => Object.assign(new Error(text), { code: 'ECONNREFUSED' })
    const [one, two] = [refused('one'), refused('two')]
    Object.assign(one, { cause: two })
    Object.assign(two, { cause: one })
    const frozen = Object.freeze(Object.assign(new Error('frozen'), { command: { name: 'get' } }))
    const computed = Object.defineProperty(new Error('computed'), 'command', { get: () => ({ name: 'get' }) })
    for (const cause of [one, frozen, computed]) {
      const spent = async () => redis(() => Promise.reject(cause)).quota.spend(request)
      await expect(spent()).rejects.toMatchObject({ code: 'service_unavailable', cause })
    }
  })

  test('after the error NOSCRIPT, the script is sent with EVAL', async () => {
    const sent: string[][] = []
    const client = async (...words: string[]) => {
      // The first call also looks whether the client is one of a whole cluster.
      if (words[1] !== 'return 1') sent.push(words)
      if (words[0] === 'EVALSHA') throw new Error('NOSCRIPT No matching script. Please use EVAL.')
      return '1 5 1 60000 1 86400000 0 0'
    }
    const count = { granted: true, now: 5, usedInMinute: 1, minuteEndsAt: 60_000, usedInDay: 1, dayEndsAt: 86_400_000 }
    expect(await redis(client).quota.spend(request)).toEqual({ ...count, bannedUntil: 0 })
    expect(sent.map(([command]) => command)).toEqual(['EVALSHA', 'EVAL'])
    expect(sent.map((words) => words.slice(2, 4))).toEqual([
      ['1', 'petstore:quota:key:a'],
      ['1', 'petstore:quota:key:a'],
    ])
  })

  test.each([
    "NOPERM this user has no permissions to run the 'evalsha' command",
    "NOPERM ACL failure in script: User app has no permissions to run the 'set' command",
    "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments",
    'ERR Error running script (call to f_1): @user_script:9: @user_script: 9: Unknown Redis command called from Lua script',
    "ERR ACL failure in script: User app has no permissions to run the 'set' command",
    'ERR TIME: NOPERM ACL failure in script',
  ])('the error %s becomes one that lists the rights', async (message) => {
    await expect(failing(message)).rejects.toMatchObject({
      code: 'invalid_option',
      message: `option client: expected a Redis server and user that permit ~petstore:* ${COMMANDS}, got the error "${message}"`,
    })
  })

  test('the rights contain each command of the script', () => {
    const called = [...script.matchAll(/redis\.p?call\('(\w+)'/g)].map(([, command]) => `+${command?.toLowerCase()}`)
    expect(new Set(['+eval', '+evalsha', ...called])).toEqual(new Set(COMMANDS.split(' ')))
  })

  test('redis rejects an invalid client', () => {
    for (const client of [undefined, null, {}, 'redis://localhost', 7]) {
      expect(() => redis(client as never as RedisClient)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
    }
    expect(() => redis(async () => '', { prefix: 7 as never as string })).toThrow('option prefix: expected a string')
  })
})

test('different subjects have different Redis keys, even with lone surrogates', async () => {
  const keys: string[] = []
  const client = async (...words: string[]) => {
    if (words[1] !== 'return 1') keys.push(words[3] as string)
    return '1 5 1 60000 1 86400000 0 0'
  }
  const { quota } = redis(client)
  const subjects = [
    'a\ud800',
    'a\ud801',
    'a\ufffd',
    'a',
    'a\u0000',
    'x'.repeat(300),
    'x'.repeat(301),
    'sha256:',
    `sha256:${'0'.repeat(64)}`,
  ]
  for (const subject of subjects) await quota.spend({ ...request, subject })
  expect(new Set(keys).size).toBe(subjects.length)
  expect(keys.every((key) => key.length < 300 && key.isWellFormed() && !key.includes('\u0000'))).toBe(true)
})
