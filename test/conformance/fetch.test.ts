import { afterAll, beforeAll, describe, test } from 'vitest'
import type { PetStore } from '../../src/index.ts'
import { fetchClient } from './http/client.ts'
import { httpConformance } from './http/suite.ts'
import { hostProgram } from './start-host.ts'

type Fetch = (request: Request) => Promise<Response>
type ToFetch = (toHandler: (mount: { petStore: PetStore }) => Fetch) => Fetch

const { toFetch }: { toFetch: ToFetch } = await import(hostProgram('fixtures.mjs'))
const start = async () => ({ send: fetchClient(toFetch(({ petStore }) => petStore.fetch)) })

httpConformance({ describe, test, beforeAll, afterAll }, { name: 'fetch in process', start }, true)
