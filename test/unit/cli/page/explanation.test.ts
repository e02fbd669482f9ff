import { describe, expect, test } from 'vitest'
import { explanationOf } from '../../../../adapters/cli/page/browser/explanation.ts'
import { duration, shortened } from '../../../../adapters/cli/page/browser/format.ts'

const request = {
  id: 1,
  time: 0,
  durationMs: 1,
  method: 'GET',
  target: '/v1/pets',
  headers: {},
  body: '',
  hasToken: true,
  key: { id: 'key_1', plan: 'free' },
  status: 200,
  reason: 'OK',
  responseHeaders: [] as string[],
  responseBody: '[]',
  isCut: false,
}

function refusal(code: string, key = true) {
  const body = JSON.stringify({ code, message: 'No.', status: 429 })
  return {
    ...request,
    key: key ? request.key : undefined,
    status: 429,
    responseHeaders: ['Retry-After', '1'],
    responseBody: body,
  }
}

describe('the explanation of a response', () => {
  test.each([
    [{ ...request, responseBody: '[{"id":1}]' }, 'The request succeeded and returned 1 animal.'],
    [
      { ...request, responseHeaders: ['X-Next-Cursor', 'MToy'] },
      'returned 0 animals. The header Link leads to the next page.',
    ],
    [{ ...request, method: 'HEAD', responseBody: '' }, 'The request succeeded.'],
    [{ ...request, status: 201, responseBody: '{"id":9223372036854775807}' }, 'Its id is 9223372036854775807.'],
    [refusal('rate_limit_exceeded'), 'No. Until the limit resets, the server refuses every request.'],
    [refusal('rate_limit_exceeded', false), 'Requests without a valid key are counted by address.'],
    [refusal('api_key_banned'), 'Until the ban ends'],
    [{ ...request, status: 400, responseBody: '{"code":"x","message":"Too short."}' }, 'Too short.'],
    [{ ...request, status: 502, responseBody: '<html>' }, 'The server responded with 502.'],
  ])('the text on the page explains the response (case %#)', (response, expected) => {
    expect(explanationOf(response)).toContain(expected)
  })
})

test.each([
  ['short', 'short'],
  ['x'.repeat(1_000), `${'x'.repeat(60)}…`],
  ['😀'.repeat(61), `${'😀'.repeat(60)}…`],
  ['😀'.repeat(60), '😀'.repeat(60)],
])('shortened(name) keeps at most 60 whole characters (case %#)', (name, expected) => {
  expect(shortened(name)).toBe(expected)
})

test.each([
  [-1, '0:00'],
  [6_001, '0:07'],
  [299_000, '4:59'],
  [77_880_000, '21 h 38 min'],
])('duration(%i) is %s', (milliseconds, expected) => {
  expect(duration(milliseconds)).toBe(expected)
})
