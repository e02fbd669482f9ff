import type { ServerResponse } from 'node:http'
import type { PlainAdmission } from '../../../src/admission.ts'
import { pairsOf } from '../../../src/http/response.ts'
import type { ApiKey, PetStore } from '../../../src/index.ts'
import { type AdmitRequest, type GuardOptions, mountGuard } from '../shared/mounted-guard.ts'
import { report } from '../shared/mounted-store.ts'
import { isFlooded } from './flood.ts'
import type { ResponseWriter } from './handler.ts'
import type { HostRequest, NodeIncoming, NodeOutgoing } from './messages.ts'
import { NodeRequest, proxyHeaders } from './request.ts'
import { writeResponse } from './response.ts'

/** Resolves with the API key of an admitted request. Otherwise, it responds, and resolves with `undefined`. */
export type NodeGuard = (request: NodeIncoming, response: NodeOutgoing) => Promise<ApiKey | undefined>

/**
 * Creates a guard for routes of your own on `node:http`, `node:https`, and the compatibility API of
 * `node:http2`. It checks the API key, counts the request like one of the API, and sets the
 * rate-limit headers on your response. It never rejects.
 *
 * @throws {PetStoreError} `invalid_option` if the store or an option is invalid
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { createPetStore } from 'petstore-kit'
 * import { nodeGuard } from 'petstore-kit/node'
 *
 * const guard = nodeGuard(createPetStore())
 * createServer(async (request, response) => {
 *   const key = await guard(request, response)
 *   if (key) response.end(`Orders of ${key.account ?? key.id}`)
 * }).listen(3000, '127.0.0.1')
 * ```
 */
export function nodeGuard(petStore: PetStore, options: GuardOptions = {}): NodeGuard {
  const { readAddress, admit } = mountGuard(petStore, options)
  return async (request, response) => {
    // The compatibility API of HTTP/2 has the same members.
    const incoming = request as HostRequest
    const outgoing = response as ServerResponse
    try {
      const clientAddress = readAddress(incoming.socket?.remoteAddress, proxyHeaders(incoming))
      const admitted = await admitOnNode(admit, { incoming, outgoing, clientAddress })
      if (!admitted) return undefined
      setHeaders(outgoing, admitted)
      return admitted.key
    } catch (error) {
      report(petStore, error, undefined)
      outgoing.destroy()
      return undefined
    }
  }
}

/** A request that may go on to the route. */
export type Admitted = Extract<PlainAdmission, { readonly key: ApiKey }>

export function setHeaders(outgoing: ServerResponse, { headers }: Admitted): void {
  for (const [name, value] of pairsOf(headers)) outgoing.setHeader(name, value)
}

/** A request of Node, as a guard has received it. */
interface GuardedRequest {
  readonly incoming: HostRequest
  readonly outgoing: ServerResponse
  /** The whole target, which reports show. @default the one that Node or Express tells */
  readonly target?: string
  readonly clientAddress: string | undefined
}

/** Admits a request, or responds to it and resolves with `undefined`. Rejects if the response cannot be written. */
export async function admitOnNode(
  admit: AdmitRequest,
  { incoming, outgoing, target = incoming.originalUrl ?? incoming.url ?? '/', clientAddress }: GuardedRequest,
  write: ResponseWriter = writeResponse,
): Promise<Admitted | undefined> {
  if (isFlooded(incoming, outgoing)) return undefined
  const admission = await admit(new NodeRequest(incoming, outgoing, { target, mountPath: '' }, clientAddress))
  if (!admission.response) return admission
  await write(incoming, outgoing, admission.response)
  return undefined
}
