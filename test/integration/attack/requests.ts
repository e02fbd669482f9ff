/** A request that is built to cost a server much time, within its limits: 16 KB of headers, 64 KiB of body. */
export interface DearRequest {
  readonly name: string
  readonly bytes: Buffer
}

const HEAD_LENGTH = 15_000
const BODY_LENGTH = 60_000

/** Returns a text of about this length that consists of copies of a unit. */
const fill = (unit: string, length: number) => unit.repeat(Math.floor(length / unit.length))

const get = (target: string, ...lines: string[]) =>
  `GET ${target} HTTP/1.1\r\n${['Host: a', ...lines].join('\r\n')}\r\n\r\n`
const post = (body: string, ...lines: string[]) =>
  `POST /v1/pets HTTP/1.1\r\n${['Host: a', 'Content-Type: application/json', ...lines].join('\r\n')}\r\n\r\n${body}`
const json = (body: string, ...lines: string[]) => post(body, `Content-Length: ${body.length}`, ...lines)
const pet = (name: string) => `{"name":"${name}","categoryId":1}`
const chunked = (body: string, ...lines: string[]) => {
  const chunks = [...body].map((character) => `1\r\n${character}\r\n`)
  return post(`${chunks.join('')}0\r\n\r\n`, 'Transfer-Encoding: chunked', ...lines)
}

export const plainRequest = Buffer.from(get('/v1/pets'))

const withoutKey = {
  'a path of escapes': get(`/v1/${fill('%41/', HEAD_LENGTH)}`),
  'a path of slashes': get(`/v1/${fill('/', HEAD_LENGTH)}`),
  'a long token': get('/v1/pets', `Authorization: Bearer ${fill('a', HEAD_LENGTH)}`),
  'many headers': get('/v1/pets', ...Array.from({ length: 1_500 }, (_, i) => `h${i}: x`)),
  'a long X-Forwarded-For': get('/v1/pets', `X-Forwarded-For: ${fill('1,', HEAD_LENGTH)}`),
  'a body in chunks of one byte': chunked(fill('x', 4_000)),
  'a body of 60 KB': json(pet(fill('x', BODY_LENGTH))),
}

const withKey = {
  'a list of 100 animals': get('/v1/pets?limit=100'),
  'a query of known parameters': get(`/v1/pets?${fill('limit=1&', HEAD_LENGTH)}`),
  'a query of unknown parameters': get(`/v1/pets?${fill('%a=1&', HEAD_LENGTH)}`),
  'a long cursor': get(`/v1/pets?cursor=${fill('M', HEAD_LENGTH)}`),
  'an unknown path of escapes': get(`/v1/${fill('%41/', HEAD_LENGTH)}`),
  'a Content-Type of semicolons': json(pet('x'), `Content-Type: application/json${fill(';', HEAD_LENGTH)}`),
  'a name of 60 KB': json(pet(fill('x', BODY_LENGTH))),
  'a name of escapes': json(pet(fill('\\u0041', BODY_LENGTH))),
  'JSON of 1,900 members': json(`{${Array.from({ length: 1_900 }, (_, i) => `"${i}${fill('x', 24)}":1`).join()}}`),
  'JSON of 1,900 repeated names': json(`{${fill('"a":1,', 11_400)}"a":2}`),
  'JSON of 1,900 arrays': json(`{"a":[${fill('[],', 5_700)}0]}`),
  'JSON of 250 levels': json(`${'['.repeat(250)}${' '.repeat(59_000)}${']'.repeat(250)}`),
  'JSON of many values': json(`[${fill('0,', BODY_LENGTH)}0]`),
  'JSON of long numbers': json(`[${fill(`${'9'.repeat(30)},`, BODY_LENGTH)}0]`),
  'a body in chunks of one byte': chunked(pet(fill('x', 4_000))),
}

const withToken = (request: string) => request.replace('\r\n', '\r\nAuthorization: Bearer free\r\n')

export const expensiveRequests: readonly DearRequest[] = [
  ...Object.entries(withoutKey).map(([name, request]) => ({ name: `no key, ${name}`, bytes: Buffer.from(request) })),
  ...Object.entries(withKey).map(([name, request]) => ({
    name: `free key, ${name}`,
    bytes: Buffer.from(withToken(request)),
  })),
]
