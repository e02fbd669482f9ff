import { createLogger } from '@stoplight/prism-core'
import { getHttpOperationsFromSpec } from '@stoplight/prism-http'
import { createServer } from '@stoplight/prism-http-server'
import { importKit, ready } from './fixtures.mjs'

// The settings of `prism mock`. It checks requests against the OpenAPI document and returns examples. It stores nothing.
const { openApiDocument } = await importKit('openapi')
const document = openApiDocument()
// Prism ignores the path of a server's URL.
const paths = Object.fromEntries(Object.entries(document.paths).map(([path, item]) => [`/v1${path}`, item]))
const operations = await getHttpOperationsFromSpec({ ...document, paths })
const mock = { dynamic: false, ignoreExamples: false }
const config = {
  isProxy: false,
  validateRequest: true,
  validateResponse: true,
  checkSecurity: true,
  errors: false,
  mock,
}
const components = { logger: createLogger('bench', { enabled: false }) }
const server = createServer(operations, { cors: true, config, components })
const address = await server.listen(0, '127.0.0.1')
ready(Number(new URL(address).port))
