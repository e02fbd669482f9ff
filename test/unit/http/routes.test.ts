import { expect, test } from 'vitest'
import { allowOf, matchRoute, type Route } from '../../../src/http/routes.ts'
import { operations } from '../../../src/operations.ts'
import { startApi } from '../../support/api.ts'

test.each<[string, string, Route]>([
  ['GET', '/pets', { kind: 'operation', operation: 'listPets', parameters: {} }],
  ['HEAD', '/pets', { kind: 'operation', operation: 'listPets', parameters: {} }],
  ['POST', '/pets/', { kind: 'operation', operation: 'createPet', parameters: {} }],
  ['GET', '/pets/7', { kind: 'operation', operation: 'getPet', parameters: { petId: '7' } }],
  ['OPTIONS', '/pets/7', { kind: 'options', allow: 'GET, HEAD, OPTIONS' }],
  ['PUT', '/pets', { kind: 'otherMethod', allow: 'GET, HEAD, POST, OPTIONS' }],
  ['GET', '*', { kind: 'unknown' }],
  ['GET', '/pets//', { kind: 'unknown' }],
  ['GET', '', { kind: 'unknown' }],
])('finds the route of the request %s %j', (method, path, route) => {
  expect(matchRoute(method, path)).toEqual(route)
})

test('OPTIONS * allows the methods of all operations', () => {
  const methods = Object.values(operations).map(({ method }) => method)
  const { kind, allow } = matchRoute('OPTIONS', '*') as { kind: string; allow: string }
  expect([kind, new Set(allow.split(', '))]).toEqual(['options', new Set([...methods, 'HEAD', 'OPTIONS'])])
})

test.each([
  ['GET', '/shop/none', 'There is nothing at this path.'],
  ['GET', '/pets', 'There is nothing at this path. The API is at /shop/pets.'],
  ['GET', '/shopping', 'There is nothing at this path. The API is at /shop/pets.'],
  ['DELETE', '/shop/pets/1', `This path supports only ${allowOf('/pets/1')}.`],
])('the request %s %s gets the error message %j', async (method, target, message) => {
  const { send } = await startApi({ basePath: '/shop' })
  expect((await send(target, { method })).message).toBe(message)
})
