import type * as z from 'zod/mini'
import { codeOf, PetStoreError } from '../../../src/errors.ts'
import type { Pet, PetPatch, PetStatus } from '../../../src/index.ts'
import { parseNewPet } from '../../../src/pets/body.ts'
import { parseInt64 } from '../../../src/schemas/int64.ts'
import { newPet } from '../../../src/schemas/pet.ts'
import { describeValue } from '../../../src/support/describe-value.ts'
import { demoPet } from '../pets/demo-pets.ts'
import * as schemas from './schemas.ts'
import type { TestDouble } from './test-double.ts'

interface Description<Body, Query> {
  readonly id: string
  readonly summary: string
  readonly body?: z.ZodMiniType<Body>
  readonly query?: z.ZodMiniObject & z.ZodMiniType<Query>
  readonly response: { readonly status: number; readonly description: string; readonly body?: z.ZodMiniType }
  /** The schema of the parameter in the path. @default any text */
  readonly pathId?: z.ZodMiniType
  /** The errors that only this operation has. */
  readonly errors?: Readonly<Record<number, string>>
  /**
   * Returns the body of the response, or a promise of it. Throws a `PetStoreError` for an error
   * response. `exactBody` has a `bigint` for each integer, because a number would round the ids of
   * animals. `id` is the parameter in the path.
   */
  run(
    double: TestDouble,
    input: {
      readonly body: Body
      readonly exactBody: unknown
      readonly query: Query
      readonly id: string
      /** Aborts when the client disconnects. */
      readonly signal: AbortSignal | undefined
    },
  ): unknown
}

/**
 * An operation of the control API. Its router and its OpenAPI document are both made from the list
 * `operations`.
 */
export type Operation = ReturnType<typeof operation>

function operation<Body = unknown, Query = unknown>(route: string, description: Description<Body, Query>) {
  const [method = '', path = ''] = route.split(' ')
  return { method, path, ...(description as Description<unknown, unknown>) }
}

const SHOWN = ['accept', 'authorization', 'content-type', 'idempotency-key', 'origin', 'user-agent', 'x-forwarded-for']

const stateOf = ({ clock }: TestDouble) => ({ now: new Date(clock.now()).toISOString(), running: clock.isRunning() })

const CHANGE_ERRORS = {
  404: 'There is no animal with this id.',
  409: 'The animal does not have the status of ifStatus.',
}

function petIdOf(text: string): bigint {
  const id = parseInt64(text)
  if (id !== undefined) return id
  throw new PetStoreError('pet_not_found', `There is no animal with the id ${describeValue(text)}.`)
}

function unknownKey(id: string): PetStoreError {
  return new PetStoreError('key_not_found', `There is no key "${id}". GET /keys lists the keys.`, { status: 404 })
}

const conditionOf = ({ ifStatus }: { readonly ifStatus?: PetStatus | undefined }) => ({
  if: ifStatus && { status: ifStatus },
})

/** Gives an error of the host's side, which has no HTTP status, the status of its response. */
function withStatus(error: unknown): never {
  if (codeOf(error) !== 'condition_failed') throw error
  throw new PetStoreError('condition_failed', (error as Error).message.replace('"if"', 'ifStatus'), { status: 409 })
}

export const operations: readonly Operation[] = [
  operation('POST /reset', {
    id: 'reset',
    summary:
      'Reset the pet store: animals and keys as at the start, real time, no counts, the faults of --delay and --fail, empty journal.',
    response: { status: 204, description: 'The pet store is as it was at the start.' },
    run: (double) => double.reset(),
  }),
  operation('GET /clock', {
    id: 'getClock',
    summary: 'Read the clock.',
    response: { status: 200, description: 'The clock.', body: schemas.clockState },
    run: stateOf,
  }),
  operation('POST /clock', {
    id: 'moveClock',
    summary: 'Stop the clock at a time, move it forward, or follow the real time again.',
    body: schemas.clockBody,
    response: { status: 200, description: 'The clock.', body: schemas.clockState },
    run(double, { body }) {
      const { clock } = double
      if ('set' in body) clock.set(Date.parse(body.set))
      else if ('advanceSeconds' in body) clock.advance(body.advanceSeconds * 1_000)
      else clock.follow()
      return stateOf(double)
    },
  }),
  operation('POST /faults', {
    id: 'addFault',
    summary: 'Make a part of the back end fail or wait, break connections, or refuse requests.',
    body: schemas.faultBody,
    response: { status: 204, description: 'The fault applies to the next requests.' },
    errors: { 404: 'There is no key with this id.' },
    async run({ faults, keys }, { body: { calls = Number.POSITIVE_INFINITY, ...fault } }) {
      // Otherwise, a mistyped id would be a fault that affects no request.
      if (fault.key !== undefined && (await keys.get(fault.key)) === undefined) throw unknownKey(fault.key)
      const isError = 'status' in fault && fault.status === 500
      faults.add({ ...fault, calls, error: isError ? new Error('The control API makes this call fail.') : undefined })
    },
  }),
  operation('GET /faults', {
    id: 'listFaults',
    summary: 'List the active faults.',
    response: { status: 200, description: 'The faults, the newest first.', body: schemas.faults },
    run: ({ faults }) =>
      faults.inForce().map(({ error, ...fault }) => {
        const failure = error === undefined ? 503 : 500
        return {
          ...fault,
          // JSON has no Infinity: a fault without `calls` lasts until it is removed.
          calls: Number.isFinite(fault.calls) ? fault.calls : undefined,
          status: fault.action === 'fail' ? failure : undefined,
        }
      }),
  }),
  operation('DELETE /faults', {
    id: 'removeFaults',
    summary: 'Remove all faults.',
    response: { status: 204, description: 'Every part works.' },
    run: ({ faults }) => faults.clear(),
  }),
  operation('POST /keys', {
    id: 'issueKey',
    summary: 'Issue an API key.',
    body: schemas.keyBody,
    response: { status: 201, description: 'The key and its token.', body: schemas.issuedKey },
    run(double, { body: { expiresAt, ...options } }) {
      const end = expiresAt === undefined ? undefined : Date.parse(expiresAt)
      return double.keys.issue({ ...options, expiresAt: end })
    },
  }),
  operation('GET /keys', {
    id: 'listKeys',
    summary: 'List the API keys, without their tokens.',
    response: {
      status: 200,
      description: 'The keys by ascending id: the oldest first, and keys of --key last.',
      body: schemas.keys,
    },
    run: (double) => allOf(double.keys.all()),
  }),
  operation('DELETE /keys/{id}', {
    id: 'revokeKey',
    summary: 'Revoke an API key.',
    response: { status: 204, description: 'The key is revoked.' },
    errors: { 404: 'There is no valid key with this id.' },
    async run(double, { id }) {
      const key = await double.keys.get(id)
      if (key !== undefined && key.revokedAt === undefined) {
        await double.keys.revoke(id)
        return
      }
      if (key === undefined) throw unknownKey(id)
      throw new PetStoreError('key_not_found', `The key "${id}" is already revoked.`, { status: 404 })
    },
  }),
  operation('POST /pets', {
    id: 'addPets',
    summary: 'Add animals without a request to the pet store.',
    body: schemas.petsBody,
    response: { status: 201, description: 'The animals with their ids.', body: schemas.pets },
    run(double, { exactBody }) {
      const body = exactBody as { pets: readonly unknown[] } | { count: bigint }
      const schema = newPet()
      const pets =
        'pets' in body
          ? body.pets.map((pet) => parseNewPet(schema, pet))
          : Array.from({ length: Number(body.count) }, (_, index) => demoPet(index))
      return Promise.all(pets.map((pet) => double.pets.add(pet)))
    },
  }),
  operation('GET /pets', {
    id: 'listAllPets',
    summary: 'List all animals, not only one page.',
    query: schemas.petsQuery,
    response: { status: 200, description: 'The animals, by ascending id.', body: schemas.pets },
    async run({ pets }, { query }) {
      const all: Pet[] = []
      for await (const pet of pets.all(query)) all.push(pet)
      return all
    },
  }),
  operation('PATCH /pets/{id}', {
    id: 'changePet',
    summary: 'Change an animal, for example sell it.',
    body: schemas.changesBody,
    query: schemas.conditionQuery,
    response: { status: 200, description: 'The animal after the change.', body: schemas.pet },
    pathId: schemas.petId,
    errors: CHANGE_ERRORS,
    run: ({ pets }, { id, exactBody, query }) =>
      pets.update(petIdOf(id), exactBody as PetPatch, conditionOf(query)).catch(withStatus),
  }),
  operation('DELETE /pets/{id}', {
    id: 'removePet',
    summary: 'Remove an animal.',
    query: schemas.conditionQuery,
    response: { status: 200, description: 'The animal as it was.', body: schemas.pet },
    pathId: schemas.petId,
    errors: CHANGE_ERRORS,
    run: ({ pets }, { id, query }) => pets.remove(petIdOf(id), conditionOf(query)).catch(withStatus),
  }),
  operation('GET /requests', {
    id: 'listRequests',
    summary: 'Read the journal: the latest requests to the pet store that fit, the oldest first, or wait for one.',
    query: schemas.requestsQuery,
    response: { status: 200, description: 'The requests and their responses.', body: schemas.journal },
    async run({ journal }, { query: { limit, wait, ...filter }, signal }) {
      if (wait > 0) await journal.waitUntil(filter, wait * 1_000, signal)
      const latest = journal.select(filter).slice(-limit)
      return {
        total: journal.requests.length,
        requests: latest.map(({ time, header, response, ...request }) => ({
          ...request,
          time: new Date(time).toISOString(),
          headers: Object.fromEntries(SHOWN.map((name) => [name, header(name)])),
          response: response ?? null,
        })),
      }
    },
  }),
  operation('DELETE /requests', {
    id: 'clearRequests',
    summary: 'Clear the journal.',
    response: { status: 204, description: 'The journal is empty.' },
    run: ({ journal }) => journal.clear(),
  }),
]

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
