import { expect, test } from 'vitest'
import { fixedKeys, withFixedKeys } from '../../../../adapters/cli/serve/fixed-keys.ts'
import { parseKeys } from '../../../../adapters/cli/terminal/flags.ts'
import { memory } from '../../../../src/index.ts'

function keyStoreOf(text: string) {
  return withFixedKeys(memory().keyStore, fixedKeys(parseKeys(text), { free: { perMinute: 2, perDay: 3 } }))
}

test('finds fixed keys by their tokens', async () => {
  const keyStore = keyStoreOf('pro=a,free=b==')
  const { token, key } = await keyStore.issue({ plan: 'free' })
  expect(await keyStore.find('a')).toMatchObject({ plan: 'pro' })
  expect(await keyStore.find('b==')).toMatchObject({ plan: 'free', limits: { perMinute: 2, perDay: 3 } })
  expect(await keyStore.find(token)).toEqual(key)
  expect(await keyStore.find('c')).toBeUndefined()
})

test('gives a fixed key the same id after a restart', async () => {
  const ids = await Promise.all(['pro=a', 'free=x,pro=a'].map(async (text) => (await keyStoreOf(text).find('a'))?.id))
  expect(ids[0]).toBe(ids[1])
})

test('gives a fixed key of the `enterprise` plan its own limits', async () => {
  expect(await keyStoreOf('enterprise=a').find('a')).toMatchObject({ limits: { perMinute: 10_000 } })
})
