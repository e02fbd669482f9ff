import { operationPlaces } from '../http/routes.ts'
import { IDEMPOTENCY_KEY } from '../pets/idempotency.ts'
import { grouped } from './description.ts'
import { errorResponses } from './errors.ts'
import { ADDED, PAGE } from './examples.ts'
import { responseHeaders } from './headers.ts'
import { schemaRef } from './json-schema.ts'
import { queryParameters } from './schemas.ts'
import { jsonContent } from './writer.ts'

/** Returns a JSON body. @param name - the name of its schema */
const bodyOf = (name: string, examples: object) => jsonContent({ schema: { $ref: schemaRef(name) }, examples })

/** Returns the Operation Objects of all operations, by name. */
const operationObjects = (bodyLimit: number) => ({
  listPets: {
    summary: 'List animals',
    description:
      'Returns the animals by ascending id, one page at a time. No animal is repeated or skipped while others are added.',
    parameters: queryParameters(),
    responses: {
      200: {
        description: 'A page of animals.',
        headers: responseHeaders('listPets', ['NextPage', 'X-Next-Cursor']),
        links: {
          nextPage: {
            operationId: 'listPets',
            description: 'The next page, unless `X-Next-Cursor` is absent.',
            parameters: {
              limit: '$request.query.limit',
              status: '$request.query.status',
              cursor: '$response.header.X-Next-Cursor',
            },
          },
        },
        ...bodyOf('Pets', {
          lastPage: { summary: 'The last page', value: [ADDED] },
          page: { summary: 'A page with a next page, for limit=2', value: PAGE.pets },
        }),
      },
      ...errorResponses('listPets'),
    },
  },
  createPet: {
    summary: 'Add an animal',
    description: `Adds an animal. A body of more than ${grouped(bodyLimit)} bytes gets 413.`,
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        description:
          'A key of your choice, such as a UUID, bare or as a quoted string. Send a request again with the same key if no response arrives: within 48 hours, the animal is added once.',
        schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
        example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
        required: false,
      },
    ],
    requestBody: {
      required: true,
      ...bodyOf('PetToAdd', {
        shortest: { summary: 'With the default status', value: { name: 'Rex', categoryId: 1 } },
        sold: { summary: 'With a status', value: { name: 'Ada', categoryId: 2, status: 'sold' } },
      }),
    },
    responses: {
      201: {
        description: 'The added animal with its id.',
        headers: responseHeaders('createPet', ['Location', 'Idempotency-Replayed']),
        links: {
          addedPet: {
            operationId: 'getPet',
            description: 'The added animal.',
            parameters: { petId: '$response.body#/id' },
          },
        },
        ...bodyOf('Pet', { added: { summary: 'The added animal', value: ADDED } }),
      },
      ...errorResponses('createPet'),
    },
  },
  getPet: {
    summary: 'Get an animal',
    description:
      'Returns one animal. This operation is removed on 5 December 2030: use `GET /pets` with a `status` filter instead.',
    deprecated: true,
    parameters: [
      {
        name: 'petId',
        in: 'path',
        description: 'The id of the animal.',
        schema: { type: 'integer', format: 'int64' },
        example: ADDED.id,
        required: true,
      },
    ],
    responses: {
      200: {
        description: 'The animal.',
        headers: responseHeaders('getPet'),
        ...bodyOf('Pet', { found: { summary: 'The animal', value: ADDED } }),
      },
      ...errorResponses('getPet'),
    },
  },
})

/** Returns all operations of the service. @param bodyLimit - the largest body of createPet, in bytes */
export function serviceOperations(bodyLimit: number) {
  const objects = operationObjects(bodyLimit)
  return operationPlaces().map(({ name, method, path }) => ({
    method,
    path,
    operationId: name,
    tags: ['pets'],
    ...objects[name],
  }))
}
