import { expect, test } from 'vitest'
import { toApiRequest, toResponse } from '../../src/index.ts'

test('a Response has the headers that the answer has, however often and in whatever case, and no others', () => {
  const headers = ['Content-Type', 'application/json', 'Vary', 'Origin', 'vary', 'Accept-Encoding', 'Vary', 'Cookie']
  const cookies = ['Set-Cookie', 'a=1', 'set-cookie', 'b=2']
  const response = toResponse({ status: 200, headers: [...headers, ...cookies], body: '[]' })
  expect([...response.headers]).toEqual([
    ['content-type', 'application/json'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
    ['vary', 'Origin, Accept-Encoding, Cookie'],
  ])
})

test('a Response has the status and the body of the answer, and none where there is none', async () => {
  const made = toResponse({ status: 201, headers: [], body: 'é' })
  expect([made.status, await made.text(), [...made.headers]]).toEqual([201, 'é', []])
  const empty = toResponse({ status: 204, headers: ['Allow', 'GET'], body: '' })
  expect([empty.status, empty.body, empty.headers.get('allow')]).toEqual([204, null, 'GET'])
})

test('a Request brings the address that its host has told, or none', () => {
  const request = new Request('http://a/v1/pets')
  expect(toApiRequest(request, '192.0.2.1').clientAddress).toBe('192.0.2.1')
  expect(toApiRequest(request).clientAddress).toBeUndefined()
})
