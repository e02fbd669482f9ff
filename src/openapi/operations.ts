import { type OperationName, operationPlaces } from '../http/routes.ts'
import { IDEMPOTENCY_KEY } from '../pets/idempotency.ts'
import { grouped } from './description.ts'
import { errorResponses } from './errors.ts'
import { ADDED, PAGE } from './examples.ts'
import { type HeaderName, responseHeaders } from './headers.ts'
import { schemaRef } from './json-schema.ts'
import { queryParameters } from './schemas.ts'
import type { OperationDescription } from './writer.ts'

/** The description of an operation. Other files of this folder add its path, method and error responses. */
interface Operation
  extends Pick<OperationDescription, 'summary' | 'description' | 'deprecated' | 'parameters' | 'requestBody'> {
  readonly success: {
    readonly status: number
    readonly description: string
    /** The name of the body's schema. */
    readonly body: string
    readonly examples: Readonly<Record<string, object>>
    readonly headers?: readonly HeaderName[]
    readonly links?: object
  }
}

const schemaOf = (name: string) => ({ $ref: schemaRef(name) })

/** Returns the descriptions of all operations. */
const operations = (bodyLimit: number): Readonly<Record<OperationName, Operation>> => ({
  listPets: {
    summary: 'List animals',
    description:
      'Returns the animals by ascending id, one page at a time. No animal is repeated or skipped while others are added.',
    parameters: queryParameters(),
    success: {
      status: 200,
      description: 'A page of animals.',
      body: 'Pets',
      examples: {
        lastPage: { summary: 'The last page', value: [ADDED] },
        page: { summary: 'A page with a next page, for limit=2', value: PAGE.pets },
      },
      headers: ['NextPage', 'X-Next-Cursor'],
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
          'A key of your choice, such as a UUID, bare or as a quoted string. Send a request again with the same key if no response arrives: within 24 hours, the animal is added once.',
        schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
        example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
      },
    ],
    requestBody: {
      schema: schemaOf('PetToAdd'),
      examples: {
        shortest: { summary: 'With the default status', value: { name: 'Rex', categoryId: 1 } },
        sold: { summary: 'With a status', value: { name: 'Ada', categoryId: 2, status: 'sold' } },
      },
    },
    success: {
      status: 201,
      description: 'The added animal with its id.',
      body: 'Pet',
      examples: { added: { summary: 'The added animal', value: ADDED } },
      headers: ['Location', 'Idempotency-Replayed'],
      links: {
        addedPet: {
          operationId: 'getPet',
          description: 'The added animal.',
          parameters: { petId: '$response.body#/id' },
        },
      },
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
      },
    ],
    success: {
      status: 200,
      description: 'The animal.',
      body: 'Pet',
      examples: { found: { summary: 'The animal', value: ADDED } },
    },
  },
})

/** Returns all operations of the service. @param bodyLimit - the largest body of createPet, in bytes */
export function serviceOperations(bodyLimit: number): OperationDescription[] {
  const descriptions = operations(bodyLimit)
  return operationPlaces().map(({ name, method, path }) => {
    const { success, ...operation } = descriptions[name]
    const { status, description, body, examples, headers, links } = success
    return {
      method,
      path,
      operationId: name,
      tags: ['pets'],
      ...operation,
      responses: {
        [status]: {
          description,
          headers: responseHeaders(name, headers),
          body: { schema: schemaOf(body), examples },
          ...(links && { links }),
        },
        ...errorResponses(name),
      },
    }
  })
}
