import type * as z from 'zod/mini'
import { isPetStoreError } from '../../../src/errors.ts'
import { DEFAULT_MAX_NAME_LENGTH } from '../../../src/options.ts'
import { newPetSchema, parseNewPet } from '../../../src/pets/animal.ts'
import { demoPet } from '../demo-data.ts'
import * as schemas from './schemas.ts'
import type { TestDouble } from './test-double.ts'

/** The router and the OpenAPI document both use the list of operations. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** The path, such as `/keys/{id}`. */
  readonly path: string
  readonly id: string
  readonly summary: string
  readonly body?: z.ZodMiniType
  readonly query?: z.ZodMiniObject
  readonly response: { readonly status: number; readonly description: string; readonly body?: z.ZodMiniType }
  /** The errors that only this operation has. */
  readonly errors?: Readonly<Record<number, string>>
  /** Returns the body of the response, or a promise of it. Throws a {@link Problem} for an error response. */
  run(double: TestDouble, input: OperationInput): unknown
}

export interface OperationInput {
  readonly body: unknown
  /** The body with a `bigint` for each integer: a JavaScript number would round the ids of animals. */
  readonly exactBody: unknown
  readonly query: unknown
  /** The parameter in the path, such as the id of a key; empty if the path has none. */
  readonly id: string
}

const HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'idempotency-key',
  'origin',
  'user-agent',
  'x-forwarded-for',
]

export class Problem extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const stateOf = ({ clock }: TestDouble) => ({ now: new Date(clock.now()).toISOString(), running: clock.isRunning() })

export const operations: readonly Operation[] = [
  {
    method: 'POST',
    path: '/reset',
    id: 'reset',
    summary: 'Return to the start: its animals and keys, the real time, no counts, no faults, an empty journal.',
    response: { status: 204, description: 'The pet store is as it was at the start.' },
    run: (double) => double.reset(),
  },
  {
    method: 'GET',
    path: '/clock',
    id: 'getClock',
    summary: 'Read the clock.',
    response: { status: 200, description: 'The clock.', body: schemas.clockState },
    run: stateOf,
  },
  {
    method: 'POST',
    path: '/clock',
    id: 'moveClock',
    summary: 'Stop the clock at a time, move it forward, or follow the real time again.',
    body: schemas.clockBody,
    response: { status: 200, description: 'The clock.', body: schemas.clockState },
    run(double, input) {
      const body = input.body as z.output<typeof schemas.clockBody>
      const { clock } = double
      if ('set' in body) clock.set(Date.parse(body.set))
      else if ('advanceSeconds' in body) clock.advance(body.advanceSeconds * 1_000)
      else clock.follow()
      return stateOf(double)
    },
  },
  {
    method: 'POST',
    path: '/faults',
    id: 'addFault',
    summary: 'Make a part of the back end fail or wait, or break connections.',
    body: schemas.faultBody,
    response: { status: 204, description: 'The fault applies to the next requests.' },
    run({ faults }, input) {
      const fault = input.body as z.output<typeof schemas.faultBody>
      const { operation, calls } = fault
      const { storage, connection } = operation === undefined ? faults : faults.for({ operation })
      if (fault.part === 'connection')
        return calls === undefined ? connection.breakConnections() : connection.breakTimes(calls)
      const target = { storage, keys: faults.keyStore, quota: faults.quota }[fault.part]
      if (fault.action === 'delay') return target.delay(fault.milliseconds, calls)
      const error = fault.status === 500 ? new Error('The control API makes this call fail.') : undefined
      return calls === undefined ? target.fail(error) : target.failTimes(calls, error)
    },
  },
  {
    method: 'GET',
    path: '/faults',
    id: 'listFaults',
    summary: 'List the faults in force.',
    response: { status: 200, description: 'The faults, the newest first.', body: schemas.faults },
    run: ({ faultsInForce }) =>
      faultsInForce().map(({ part, action, operation, calls, error, milliseconds }) => ({
        part: part === 'keyStore' ? 'keys' : part,
        action: part === 'connection' ? 'break' : action,
        operation,
        // JSON has no member for `undefined`: the fault lasts until it is removed.
        calls: calls === Number.POSITIVE_INFINITY ? undefined : calls,
        milliseconds,
        status: part === 'connection' || action === 'delay' ? undefined : isPetStoreError(error) ? 503 : 500,
      })),
  },
  {
    method: 'DELETE',
    path: '/faults',
    id: 'removeFaults',
    summary: 'Remove all faults.',
    response: { status: 204, description: 'Every part works.' },
    run: ({ faults }) => faults.recover(),
  },
  {
    method: 'POST',
    path: '/keys',
    id: 'issueKey',
    summary: 'Issue an API key.',
    body: schemas.keyBody,
    response: { status: 201, description: 'The key and its token.', body: schemas.issuedKey },
    run(double, input) {
      const { expiresAt, ...options } = input.body as z.output<typeof schemas.keyBody>
      const end = expiresAt === undefined ? undefined : Date.parse(expiresAt)
      return double.ports().keyStore.issue({ ...options, expiresAt: end })
    },
  },
  {
    method: 'GET',
    path: '/keys',
    id: 'listKeys',
    summary: 'List the API keys, without their tokens.',
    response: { status: 200, description: 'The keys, the oldest first.', body: schemas.keys },
    run: (double) => double.ports().keyStore.list(),
  },
  {
    method: 'DELETE',
    path: '/keys/{id}',
    id: 'revokeKey',
    summary: 'Revoke an API key.',
    response: { status: 204, description: 'The key is revoked.' },
    errors: { 404: 'There is no valid key with this id.' },
    async run(double, { id }) {
      const { keyStore } = double.ports()
      if (await keyStore.revoke(id)) return
      const isKnown = (await keyStore.list()).some((key) => key.id === id)
      const message = isKnown
        ? `The key "${id}" is already revoked.`
        : `There is no key "${id}". GET /keys lists the keys.`
      throw new Problem(404, 'key_not_found', message)
    },
  },
  {
    method: 'POST',
    path: '/pets',
    id: 'addPets',
    summary: 'Add animals without a request to the pet store.',
    body: schemas.petsBody,
    response: { status: 201, description: 'The animals with their ids.', body: schemas.pets },
    run(double, input) {
      const body = input.exactBody as { pets: readonly unknown[] } | { count: bigint }
      const newPet = newPetSchema(DEFAULT_MAX_NAME_LENGTH)
      const pets =
        'pets' in body
          ? body.pets.map((pet) => parseNewPet(newPet, pet, DEFAULT_MAX_NAME_LENGTH))
          : Array.from({ length: Number(body.count) }, (_, index) => demoPet(index))
      const { storage } = double.ports()
      return Promise.all(pets.map(async (pet) => storage.create({ ...pet, status: pet.status ?? 'available' })))
    },
  },
  {
    method: 'GET',
    path: '/requests',
    id: 'listRequests',
    summary: 'Read the journal: the latest requests to the pet store, the oldest first.',
    query: schemas.requestsQuery,
    response: { status: 200, description: 'The requests and their responses.', body: schemas.journal },
    run({ requests }, input) {
      const { limit } = input.query as z.output<typeof schemas.requestsQuery>
      const latest = requests.slice(-limit).map(({ time, method, path, header, body, response }) => ({
        time: new Date(time).toISOString(),
        method,
        path,
        headers: Object.fromEntries(HEADERS.map((name) => [name, header(name)])),
        body,
        response: response ?? null,
      }))
      return { total: requests.length, requests: latest }
    },
  },
  {
    method: 'DELETE',
    path: '/requests',
    id: 'clearRequests',
    summary: 'Clear the journal.',
    response: { status: 204, description: 'The journal is empty.' },
    run({ requests }) {
      requests.length = 0
    },
  },
]
