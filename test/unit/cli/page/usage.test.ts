import { describe, expect, test } from 'vitest'
import { watchUsage } from '../../../../adapters/cli/page/usage.ts'
import { createPetStore, memory } from '../../../../src/index.ts'
import { manualClock } from '../../../../src/testing/index.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const NOON = 20_000 * DAY + 720 * MINUTE

/** Creates a store that records usage. Its keys may send 3 requests per minute and 5 per day. */
async function watchedStore() {
  const clock = manualClock(NOON)
  const backEnd = memory({ clock })
  const { usageOf, keyOf, ...watched } = watchUsage(backEnd, clock)
  const { fetch } = createPetStore({ ...backEnd, ...watched, clock })
  const issue = async (account?: string) =>
    (await backEnd.keyStore.issue({ plan: 'gold', limits: { perMinute: 3, perDay: 5 }, account })).token
  const send = async (token: string) =>
    (await fetch(new Request('http://x/v1/pets', { headers: { authorization: `Bearer ${token}` } }))).status
  const sendTimes = async (times: number, token: string) => {
    for (let i = 0; i < times; i++) await send(token)
  }
  return { clock, backEnd, usageOf, keyOf, issue, send, sendTimes }
}

describe('the usage of a key', () => {
  test('the usage of a key is unknown before its first request', async () => {
    const { issue, usageOf } = await watchedStore()
    expect(await usageOf(await issue())).toBe(undefined)
  })

  test('the usage of an invalid token is unknown', async () => {
    const { send, usageOf } = await watchedStore()
    expect(await send('wrong')).toBe(401)
    expect(await usageOf('wrong')).toBe(undefined)
  })

  test('the usage contains both windows with the times when they end', async () => {
    const { clock, issue, send, usageOf } = await watchedStore()
    clock.advance(10_000)
    const token = await issue()
    await send(token)
    expect(await usageOf(token)).toEqual({
      plan: 'gold',
      now: NOON + 10_000,
      minute: { limit: 3, used: 1, endsAt: NOON + MINUTE },
      day: { limit: 5, used: 1, endsAt: NOON + DAY / 2 },
      bannedUntil: 0,
      ban: { afterRefusals: 3, seconds: 300 },
    })
  })

  test('reading the usage does not change the usage', async () => {
    const { issue, send, usageOf } = await watchedStore()
    const token = await issue()
    await send(token)
    expect(await usageOf(token)).toEqual(await usageOf(token))
  })

  test('the usage starts again at zero when a window ends', async () => {
    const { clock, issue, sendTimes, usageOf } = await watchedStore()
    const token = await issue()
    await sendTimes(3, token)
    clock.advance(MINUTE)
    expect(await usageOf(token)).toMatchObject({ minute: { used: 0, endsAt: NOON + 2 * MINUTE }, day: { used: 3 } })
    clock.advance(DAY)
    expect(await usageOf(token)).toMatchObject({ minute: { used: 0 }, day: { used: 0, endsAt: NOON + 1.5 * DAY } })
  })

  test('the usage contains the end of a ban while the ban lasts', async () => {
    const { clock, issue, sendTimes, usageOf } = await watchedStore()
    const token = await issue()
    await sendTimes(6, token)
    expect((await usageOf(token))?.bannedUntil).toBe(NOON + 5 * MINUTE)
    clock.advance(5 * MINUTE)
    expect((await usageOf(token))?.bannedUntil).toBe(0)
  })

  test('the keys of an account share their usage', async () => {
    const { issue, send, usageOf } = await watchedStore()
    const [first, second] = [await issue('acme'), await issue('acme')]
    await send(first)
    await send(second)
    expect((await usageOf(first))?.minute.used).toBe(2)
  })

  test('the usage is unknown after the key was revoked', async () => {
    const { backEnd, issue, send, usageOf } = await watchedStore()
    const token = await issue()
    await send(token)
    for (const key of await backEnd.keyStore.list()) await backEnd.keyStore.revoke(key.id)
    expect(await usageOf(token)).toBe(undefined)
  })

  test('keyOf returns the key of a valid token after a request with this token', async () => {
    const { issue, keyOf, send } = await watchedStore()
    const token = await issue()
    expect(keyOf(token)).toBe(undefined)
    await send(token)
    await send('wrong')
    expect([keyOf(token)?.plan, keyOf('wrong')]).toEqual(['gold', undefined])
  })
})
