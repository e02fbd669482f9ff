import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { originForm } from '../../src/http/request-target.ts'
import { cached, memory } from '../../src/index.ts'
import { newToken } from '../../src/keys/token.ts'
import { encodeCursor } from '../../src/pets/cursor.ts'
import { startApi } from '../support/api.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** A text as a socket brings it: in one piece. */
const received = (text: string) => Buffer.from(text).toString('latin1')

/** By how much a run makes the heap grow, in bytes. */
async function growth(run: () => Promise<void>): Promise<number> {
  collect()
  const before = process.memoryUsage().heapUsed
  await run()
  collect()
  return process.memoryUsage().heapUsed - before
}

const LONG = 16_000
const MANY = 900
const WIDE = { perMinute: 10_000, perDay: 10_000 }

/** A text cut out of a long one, of which it is a view. */
const cut = (text: string) => received(text + 'x'.repeat(LONG)).slice(0, text.length)

const ways: Record<string, (target: string) => { target: string; mountPath?: string }> = {
  'with a fragment': (target) => ({ target: received(`${target}#${'x'.repeat(LONG)}`) }),
  'in absolute form': (target) => ({ target: received(`http://${'x'.repeat(LONG)}${target}`) }),
  'cut by a door': (target) => ({ target: originForm(received(`${target}#${'x'.repeat(LONG)}`)) }),
  'cut by a host': (target) => ({ target: cut(target) }),
  'behind a mount': (target) => ({ target: `/a-shop-of-that-name${target}`, mountPath: cut('/a-shop-of-that-name') }),
}

for (const [how, ask] of Object.entries(ways)) {
  test(`what is remembered of pages and targets keeps nothing of the long ones that they came in: ${how}`, async () => {
    const api = await startApi({ anonymous: WIDE, plans: { free: WIDE } })
    for (let i = 0; i <= MANY; i++) await api.storage.create({ name: 'Rex', categoryId: 1n })
    for (const token of [undefined, api.token]) {
      const grown = await growth(async () => {
        for (let i = 0; i < MANY; i++) {
          const { status, headers } = await api.petStore.handle({
            ...ask(`/v1/pets?limit=1&x=${token?.length}&cursor=${encodeCursor(BigInt(i))}`),
            method: 'GET',
            header: (name) => (name === 'authorization' && token ? `Bearer ${token}` : undefined),
            body: async () => new Uint8Array(),
          })
          expect([status, headers.includes('Link')]).toEqual(token ? [200, true] : [401, false])
        }
      })
      expect(grown).toBeLessThan((LONG * MANY) / 4)
    }
  })
}

test('a token that is remembered keeps nothing of the header that it came in', async () => {
  const keyStore = cached({ find: async () => undefined })
  const api = await startApi({ keyStore })
  const grown = await growth(async () => {
    for (let i = 0; i < MANY; i++) {
      const authorization = received(`Bearer${' '.repeat(LONG)}a-token-that-nobody-knows-${i}`)
      expect((await api.send('/v1/pets', { headers: { authorization } })).status).toBe(401)
    }
  })
  expect(grown).toBeLessThan((LONG * MANY) / 3)
})

test('of targets, what is remembered keeps no more than so many, however many are asked for', async () => {
  const api = await startApi({ anonymous: WIDE })
  const filler = 'x'.repeat(400)
  const grown = await growth(async () => {
    for (let i = 0; i < 9_500; i++) {
      expect((await api.send(`/v1/pets?${filler}${i}`, { token: null })).status).toBe(401)
    }
  })
  expect(grown).toBeLessThan(4_000_000)
})

test('tokens that nobody has leave nothing behind in memory, however many are tried', async () => {
  const { keyStore } = memory()
  const grown = await growth(async () => {
    for (let i = 0; i < 5_000; i++) expect(await keyStore.find(newToken())).toBeUndefined()
  })
  expect(grown).toBeLessThan(500_000)
})

test('of pages, what is remembered keeps no more than so many, however many are asked for', async () => {
  const api = await startApi({ plans: { free: WIDE } })
  const name = 'x'.repeat(2_000)
  for (let i = 0; i < 4_500; i++) await api.storage.create({ name, categoryId: 1n })
  const grown = await growth(async () => {
    for (let i = 0; i < 4_499; i++) await api.send(`/v1/pets?limit=1&cursor=${encodeCursor(BigInt(i))}`)
  })
  expect(grown).toBeLessThan(5_000_000)
})

test('a body that comes byte by byte takes no more room than its bytes', async () => {
  const { petStore, token } = await startApi()
  const headers = new Map([
    ['authorization', `Bearer ${token}`],
    ['content-type', 'application/json'],
  ])
  const BYTES = 50_000
  let left = BYTES
  let onWaiting = () => {}
  const isWaiting = new Promise<void>((resolve) => {
    onWaiting = resolve
  })
  const body = new ReadableStream(
    {
      pull: (controller) => {
        if (left-- > 0) controller.enqueue(Uint8Array.of(32))
        else onWaiting()
      },
    },
    { highWaterMark: 0 },
  )
  const request = { method: 'POST', url: 'http://x/v1/pets', headers, body, bodyUsed: false }
  const grown = await growth(async () => {
    void petStore.fetch(request as unknown as Request)
    await isWaiting
  })
  expect(grown).toBeLessThan(BYTES * 20)
})
