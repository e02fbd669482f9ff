import type { DocumentedOptions } from '../documented-options.ts'
import { dateText } from '../http/deprecation.ts'
import type { Pet } from '../model.ts'
import { type Deprecation, type OperationName, operationNames, operations } from '../operations.ts'
import { IDEMPOTENCY_HEADER } from '../schemas/idempotency-key.ts'
import { toJsonSchema } from '../schemas/json-schema.ts'
import { pageParameters } from '../schemas/query.ts'
import { int64, json, ref } from './component-schemas.ts'
import { grouped } from './description.ts'
import { errorResponses } from './error-responses.ts'
import { headerRefs } from './headers.ts'

/**
 * The texts and examples of an operation. Its method, path and error codes come from `operations`.
 */
interface Description {
  readonly summary: string
  readonly description: string
  readonly parameters: readonly object[]
  readonly requestBody?: object
  readonly success: {
    readonly status: number
    readonly description: string
    /** Names of header components that other responses lack. */
    readonly headers?: readonly string[]
    readonly content: object
    readonly links?: object
  }
}

type Example = Record<keyof Pet, string | number>

const rex = { id: 7, name: 'Rex', categoryId: 1, status: 'available' } satisfies Example
const ada = { id: 2, name: 'Ada', categoryId: 2, status: 'sold' } satisfies Example

const nextPage = {
  operationId: 'listPets' satisfies OperationName,
  description: 'The next page, unless `X-Next-Cursor` is absent.',
  parameters: {
    limit: '$request.query.limit',
    status: '$request.query.status',
    cursor: '$response.header.X-Next-Cursor',
  } satisfies Record<keyof typeof pageParameters, string>,
}

const queryOfList = {
  limit: {
    description: 'The largest number of animals to return.',
    schema: toJsonSchema(pageParameters.limit, 'output'),
  },
  status: {
    description: 'Returns only animals with this status.',
    // No description beside `$ref`: some generators do not support it.
    schema: ref('PetStatus'),
  },
  cursor: {
    description: 'The value of `X-Next-Cursor` in the response with the previous page.',
    schema: { type: 'string' },
  },
} satisfies Record<keyof typeof pageParameters, object>

const addedPet = {
  operationId: 'getPet' satisfies OperationName,
  description: 'The added animal.',
  parameters: { petId: '$response.body#/id' },
}

const petId = {
  name: 'petId',
  in: 'path',
  description: 'The id of the animal.',
  schema: int64,
  example: 7,
  required: true,
}

/** The compiler names an operation that is missing here. */
function descriptions({ bodyLimit, readOnly }: DocumentedOptions): Readonly<Record<OperationName, Description>> {
  return {
    listPets: {
      summary: 'List animals',
      description:
        'Returns the animals by ascending id, one page at a time. No animal is repeated or skipped while others are added, changed or removed.',
      parameters: Object.entries(queryOfList).map(([name, others]) => ({
        name,
        in: 'query',
        ...others,
        required: false,
      })),
      success: {
        status: 200,
        description: 'A page of animals.',
        headers: ['NextPage', 'X-Next-Cursor'],
        links: { nextPage },
        ...json('Pets', {
          lastPage: { summary: 'The last page', value: [rex] },
          page: { summary: 'A page with a next page, for limit=2', value: [{ ...rex, id: 1 }, ada] },
        }),
      },
    },

    createPet: {
      summary: 'Add an animal',
      description:
        `Adds an animal. A body of more than ${grouped(bodyLimit)} bytes gets 413.` +
        (readOnly ? ' The service is read-only now, so each request gets 503.' : ''),
      parameters: [
        {
          name: 'Idempotency-Key',
          in: 'header',
          description:
            'A key of your choice, such as a UUID, bare or as a quoted string. If no response arrives, send the request again with this key within 48 hours: the animal is added only once.',
          schema: { type: 'string', pattern: IDEMPOTENCY_HEADER.source },
          required: false,
        },
      ],
      requestBody: {
        required: true,
        ...json('PetToAdd', {
          shortest: { summary: 'With the default status', value: { name: 'Rex', categoryId: 1 } },
          sold: { summary: 'With a status', value: { name: 'Ada', categoryId: 2, status: 'sold' } },
        }),
      },
      success: {
        status: 201,
        description: 'The added animal with its id.',
        headers: ['Location', 'Idempotency-Replayed'],
        links: { addedPet },
        ...json('Pet', { added: { summary: 'The added animal', value: rex } }),
      },
    },

    getPet: {
      summary: 'Get an animal',
      description: 'Returns one animal. Use `GET /pets` with a `status` filter instead.',
      parameters: [petId],
      success: {
        status: 200,
        description: 'The animal.',
        ...json('Pet', { found: { summary: 'The animal', value: rex } }),
      },
    },
  }
}

/** Returns the paths of the document, from the table of operations. */
export function documentPaths(options: DocumentedOptions): Record<string, Record<string, unknown>> {
  const described = descriptions(options)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const name of operationNames) {
    const { method, path } = operations[name]
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(name, described[name], options) }
  }
  return paths
}

function operationObject(name: OperationName, described: Description, options: DocumentedOptions) {
  const { summary, description, parameters, requestBody, success } = described
  const { status, description: meaning, headers, ...response } = success
  const { deprecation } = operations[name]
  return {
    operationId: name,
    tags: ['pets'],
    summary,
    description: deprecation ? `${description} ${removalText(deprecation, options)}` : description,
    ...(deprecation && { deprecated: true }),
    parameters,
    ...(requestBody && { requestBody }),
    responses: {
      [status]: { description: meaning, headers: headerRefs(name, options, headers), ...response },
      ...errorResponses(name, options),
    },
  }
}

function removalText({ removedAt }: Deprecation, { sunset }: DocumentedOptions): string {
  const day = dateText(removedAt)
  return sunset === 'enforce' ? `This operation is removed on ${day}.` : `The removal is announced for ${day}.`
}
