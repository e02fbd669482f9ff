import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { memory } from '../../src/index.ts'
import { createTestPetStore, manualClock } from '../../src/testing/index.ts'

test.each(['storage', 'keyStore', 'quota'] as const)(
  'a test pet store has a %s of its own, and takes no other',
  async (name) => {
    await expect(createTestPetStore({ [name]: memory()[name] })).rejects.toMatchObject({
      code: 'invalid_option',
      message: `option ${name}: expected none, as a test pet store brings its own, got an object`,
    })
  },
)

test.each([null, 5, [], new Map()])('%j are no options of a test pet store', async (options) => {
  await expect(createTestPetStore(options as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(/^option options: expected a plain object, got /),
  })
})

test('options of a test pet store may be inherited', async () => {
  const options = Object.create({ basePath: '/x', clock: manualClock(5) })
  const { basePath, clock } = await createTestPetStore(options)
  expect([basePath, clock.now()]).toEqual(['/x', 5])
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, '1 January' as never])('%s is no time', (time) => {
  const wrong = expect.objectContaining({ code: 'invalid_option' })
  const clock = manualClock(5)
  expect(() => manualClock(time)).toThrow(wrong)
  expect(() => clock.set(time)).toThrow(wrong)
  expect(() => clock.advance(time)).toThrow(wrong)
  expect(clock.now()).toBe(5)
})

test('what needs no fast-check can be bundled where there is none', async () => {
  const bundled = await build({
    entryPoints: ['src/testing/index.ts'],
    alias: { 'fast-check': 'no-such-package' },
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'silent',
  })
  expect(bundled.errors).toEqual([])
})
