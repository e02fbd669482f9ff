import { expect, test } from 'vitest'
import { lookUpTurns } from '../../../src/keys/look-up-turns.ts'

/** Returns a function that starts look-ups, which stay pending until the test ends them. */
function pendingLookUps() {
  const ends: (() => void)[] = []
  const lookUp = () => new Promise<void>((resolve) => void ends.push(resolve))
  return { ends, lookUp }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

test('runs at most four concurrent look-ups per IPv6 prefix', async () => {
  const run = lookUpTurns()
  const { ends, lookUp } = pendingLookUps()
  const done = Array.from({ length: 10 }, (_, i) => run(`2001:db8::${i}`, lookUp))
  await settle()
  expect(ends).toHaveLength(4)
  for (let i = 0; i < 10; i++) {
    ends[i]?.()
    await settle()
    expect(ends).toHaveLength(Math.min(10, 5 + i))
  }
  await Promise.all(done)
})

test('does not delay look-ups of other addresses', async () => {
  const run = lookUpTurns()
  const { ends, lookUp } = pendingLookUps()
  for (let i = 0; i < 10; i++) void run('203.0.113.7', lookUp)
  for (const address of ['203.0.113.8', undefined]) void run(address, lookUp)
  await settle()
  expect(ends).toHaveLength(6)
})

test('runs the next look-up after a failed look-up', async () => {
  const run = lookUpTurns()
  const failing = Array.from({ length: 8 }, () => run('203.0.113.7', () => Promise.reject(new Error('down'))))
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(Array(8).fill('rejected'))
  expect(await run('203.0.113.7', async () => 'found')).toBe('found')
})
