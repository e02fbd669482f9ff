import { beforeEach, test } from 'vitest'
import { within } from '../support/deadline.ts'
import { expectSilence, signalled, startServer } from '../support/node-server.ts'
import { rawConnection } from '../support/raw-http.ts'

beforeEach(expectSilence)

test('a CONNECT that waits for the store is waited for no longer than closeTimeout', async () => {
  const asked = signalled()
  const find = () => {
    asked.resolve()
    return new Promise<undefined>(() => {})
  }
  const { url, authorized, close } = await startServer({ store: { keyStore: { find } }, closeTimeout: 20 })
  const connection = await rawConnection(url)
  await connection.send(`CONNECT a:443 HTTP/1.1\r\n${authorized}\r\n`)
  await within(asked.promise, 'the key store')
  await within(close(), 'close', 2_000)
  await connection.closed()
})
