import type { OperationName } from '../http/routes.ts'
import { errorResponses } from './errors.ts'
import { type HeaderName, responseHeaders } from './headers.ts'
import { queryParameters, schemaRef } from './schemas.ts'

/** The description of an operation. Other files of this folder add its path, method and error responses. */
interface Operation {
  readonly summary: string
  readonly description: string
  readonly deprecated?: true
  readonly parameters?: readonly object[]
  readonly requestBody?: object
  readonly success: {
    readonly status: number
    readonly description: string
    /** The name of the body's schema. */
    readonly body: string
    readonly headers?: readonly HeaderName[]
    readonly links?: object
  }
}

const jsonOf = (name: string) => ({ 'application/json': { schema: { $ref: schemaRef(name) } } })

/** The descriptions of all operations. */
const operations: Readonly<Record<OperationName, () => Operation>> = {
  listPets: () => ({
    summary: 'List animals',
    description:
      'Returns the animals by ascending id, one page at a time. No animal is repeated or skipped while others are added.',
    parameters: queryParameters(),
    success: {
      status: 200,
      description: 'A page of animals.',
      body: 'Pets',
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
  }),
  createPet: () => ({
    summary: 'Add an animal',
    description:
      'Adds an animal. Without `status`, the animal is available, unless the operator has decided otherwise.',
    requestBody: { required: true, content: jsonOf('NewPet') },
    success: {
      status: 201,
      description: 'The added animal with its id.',
      body: 'Pet',
      headers: ['Location'],
      links: {
        addedPet: {
          operationId: 'getPet',
          description: 'The added animal.',
          parameters: { petId: '$response.body#/id' },
        },
      },
    },
  }),
  getPet: () => ({
    summary: 'Get an animal',
    description:
      'Returns one animal. This operation is removed on 5 December 2030: use `GET /pets` with a `status` filter instead.',
    deprecated: true,
    parameters: [
      {
        name: 'petId',
        in: 'path',
        required: true,
        description: 'The id of the animal.',
        schema: { type: 'integer', format: 'int64' },
      },
    ],
    success: { status: 200, description: 'The animal.', body: 'Pet' },
  }),
}

/** Returns an operation object for the OpenAPI document. */
export function operationObject(name: OperationName) {
  const { success, ...operation } = operations[name]()
  return {
    operationId: name,
    tags: ['pets'],
    ...operation,
    responses: {
      [success.status]: {
        description: success.description,
        headers: responseHeaders(name, success.headers),
        content: jsonOf(success.body),
        ...(success.links && { links: success.links }),
      },
      ...errorResponses(name),
    },
  }
}
