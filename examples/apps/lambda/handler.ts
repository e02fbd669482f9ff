import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { createPetStore, memory } from 'petstore-kit'
import { toFetchHandler } from 'petstore-kit/fetch'

const backEnd = memory() // on Lambda, use a database: each instance has a memory of its own
const keyStore = {
  find: (token: string) => (token === process.env.PETSTORE_KEY ? { id: 'shop', plan: 'business' } : undefined),
}
const petStore = createPetStore({ ...backEnd, keyStore, cors: { origins: ['https://shop.example'] } })
const respond = toFetchHandler(petStore, { trustProxy: false }) // AWS passes the address, and clients cannot set it

export async function handler(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> {
  const { rawPath, rawQueryString, headers, requestContext, body, isBase64Encoded } = event
  if (!requestContext?.http)
    throw new TypeError('expected an event of a function URL, or of an HTTP API with the payload format 2.0')
  const { domainName, http } = requestContext
  if (!`${rawPath}/`.startsWith(`${petStore.basePath}/`)) return page(rawPath)
  const hasBody = body !== undefined && http.method !== 'GET' && http.method !== 'HEAD'
  const request = new Request(`https://${domainName}${rawPath}?${rawQueryString}`, {
    method: http.method,
    headers: headers as Record<string, string>,
    body: hasBody ? Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8') : null,
  })
  const response = await respond(request, http.sourceIp)
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
}

async function page(path: string): Promise<APIGatewayProxyStructuredResultV2> {
  if (path !== '/') return { statusCode: 404, body: 'Not found' }
  const pets = await backEnd.storage.list({ limit: 3 })
  return { statusCode: 200, body: `The shop itself has ${pets.map(({ name }) => name).join(', ')}` }
}
