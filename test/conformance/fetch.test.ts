import { afterAll, beforeAll, describe, test } from 'vitest'
import { createPetStore, type PetStore } from '../../src/index.ts'
import { openApiDocument } from '../../src/openapi/index.ts'
import { responseChecker } from '../support/response-checker.ts'
import { fetchClient, type Send } from './http/client.ts'
import { httpConformance } from './http/suite.ts'
import { hostProgram } from './start-host.ts'

type Fetch = (request: Request) => Promise<Response>
type ToFetch = (toHandler: (mount: { petStore: PetStore }) => Fetch) => Fetch

interface Fixtures {
  readonly toFetch: ToFetch
  readonly mountOf: (path: string) => { readonly petStore: PetStore } | undefined
}

const { toFetch, mountOf }: Fixtures = await import(hostProgram('fixtures.mjs'))
const checkResponse = responseChecker(openApiDocument(createPetStore()))
const start = async () => ({ send: checked(fetchClient(toFetch(({ petStore }) => petStore.fetch))) })

/** Checks every response of a pet store against the OpenAPI document. */
function checked(send: Send): Send {
  return async (target, sent = {}) => {
    const received = await send(target, sent)
    const { pathname } = new URL(target, 'http://localhost')
    const basePath = mountOf(pathname)?.petStore.basePath
    if (basePath !== undefined)
      checkResponse({ ...received, method: sent.method ?? 'GET', path: pathname.slice(basePath.length) })
    return received
  }
}

httpConformance({ describe, test, beforeAll, afterAll }, { name: 'fetch in process', start }, true)
