import { expect, test, vi } from 'vitest'
import { createPetStoreClient, type PetStoreClientOptions } from '../../../src/client/index.ts'

const valid = { baseUrl: 'https://api.example/v1', apiKey: 'pet_abc' }
const create = (options: object) => createPetStoreClient({ ...valid, ...options } as PetStoreClientOptions)

test.each([
  ['baseUrl', { baseUrl: '/v1' }],
  ['baseUrl', { baseUrl: undefined }],
  ['baseUrl', { baseUrl: 'https://a/v1?x' }],
  ['baseUrl', { baseUrl: 'https://a b/v1' }],
  ['baseUrl', { baseUrl: 'https://user:secret@a/v1' }],
  ['apiKey', { apiKey: undefined }],
  ['apiKey', { apiKey: '' }],
  ['apiKey', { apiKey: 'pet_abc\n' }],
  ['fetch', { fetch: 'fetch' }],
  ['timeout', { timeout: 0 }],
  ['timeout', { timeout: 2 ** 31 }],
  ['onRetry', { onRetry: 3 }],
  ['retry', { retry: 3 }],
  ['retry', { retry: null }],
  ['retry.maxElapsed', { retry: { maxElapsed: Number.POSITIVE_INFINITY } }],
  ['retry.maxRetries', { retry: { maxRetries: 1.5 } }],
])('an error names the invalid option %s: %o', (name, options) => {
  expect(() => create(options)).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: expect.stringMatching(new RegExp(`^option ${name}: expected .*, got .*$`)),
    }),
  )
})

test.each([
  [
    { timeOut: 5 },
    'option timeOut: expected one of the options baseUrl, apiKey, fetch, timeout, retry, onRetry; did you mean timeout?',
  ],
  [
    { baseURL: 'https://a/v1' },
    'option baseURL: expected one of the options baseUrl, apiKey, fetch, timeout, retry, onRetry; did you mean baseUrl?',
  ],
  [{ token: 'secret' }, 'option token: expected one of the options baseUrl, apiKey, fetch, timeout, retry, onRetry'],
  [
    { retry: { maxElapse: 5 } },
    'option retry.maxElapse: expected one of the options maxElapsed, maxRetries; did you mean retry.maxElapsed?',
  ],
])('an error hints at the option that was meant: %o', (options, message) => {
  expect(() => create(options)).toThrow(expect.objectContaining({ code: 'invalid_option', message }))
})

test('an unknown option that is undefined has no effect', () => {
  expect(create({ token: undefined })).toBeDefined()
})

test('an error about the options names what was received', () => {
  expect(() => createPetStoreClient(undefined as never)).toThrow('option options: expected a plain object, got nothing')
})

test('no error shows an API key', () => {
  expect(() => create({ apiKey: 'pet secret' })).toThrow(/got another string$/)
})

test('baseUrl may be a URL object with a slash at the end', async () => {
  const fetch = vi.fn(async () => new Response('[]'))
  await create({ baseUrl: new URL('https://api.example/v1/'), fetch }).listPets()
  expect(fetch).toHaveBeenCalledWith('https://api.example/v1/pets', expect.anything())
})

test('later changes of the options have no effect', async () => {
  const fetch = vi.fn(async () => new Response('[]'))
  const options = { ...valid, fetch }
  const client = createPetStoreClient(options)
  options.baseUrl = 'https://other.example/v1'
  await client.listPets()
  expect(fetch).toHaveBeenCalledWith('https://api.example/v1/pets', expect.anything())
})
