import * as z from 'zod/mini'
import { FetchRequest } from './http/fetch.ts'
import type { ApiRequest } from './http/request.ts'
import { type ApiResponse, pairsOf } from './http/response.ts'
import type { ApiKey, KeyAccess } from './model.ts'
import { expecting, type Shape } from './schemas/expected.ts'
import { invalidOption, oneOf, optionsOf } from './schemas/options.ts'
import { parseOption, parseOptions } from './schemas/parse-options.ts'

/** The options of `petStore.admit`. */
export interface AdmitOptions {
  /**
   * Whether the request counts against the limits. If false, it is still refused over a limit and
   * during a ban, and the quota store needs `peek`.
   * @default true
   */
  readonly count?: boolean | undefined
  /**
   * Whether a key that may only read suffices (`read`), or gets 403 (`write`).
   * @default 'read' for GET, HEAD, OPTIONS and TRACE; otherwise 'write'
   */
  readonly access?: KeyAccess | undefined
}

/** The result of `petStore.admit`: either a key, or the response to a request without permission. */
export type Admission =
  | {
      /** The API key of the request. */
      readonly key: ApiKey
      /** The rate-limit headers, and with the option `requestId` its header. Add them to your own response. */
      readonly headers: Headers
      readonly response?: undefined
    }
  | {
      /** The 401, 403, 429, 500 or 503 of the API. Return it to the client. */
      readonly response: Response
      readonly key?: undefined
      readonly headers?: undefined
    }

/**
 * Checks the API key of a request to a route of your own, and counts the request. See
 * {@link AdmitOptions}. The body of an admitted request is not read. Rejects only if an argument is invalid.
 */
export type Admit = (request: Request, address?: string | null, options?: AdmitOptions) => Promise<Admission>

/** The same as {@link Admission}, as plain values. */
export type PlainAdmission =
  | { readonly key: ApiKey; readonly headers: readonly string[]; readonly response?: undefined }
  | { readonly response: ApiResponse; readonly key?: undefined }

/** Admits a request that consists of plain values. The promise never rejects. */
export type AdmitPlainRequest = (request: ApiRequest, options: AdmitOptions) => Promise<PlainAdmission>

export const admitShape = {
  count: z.optional(z.boolean(expecting('true or false'))),
  access: z.optional(oneOf('read', 'write')),
} satisfies Shape<AdmitOptions>

const admitOptions = optionsOf<AdmitOptions>(admitShape)

const address = z.optional(
  z.nullable(z.string(expecting("the client's IP address, or null; the options are the third argument"))),
)

/** Returns an `admit` that converts each `Request`, and the response back to a `Response`. */
export function admitThrough(admit: AdmitPlainRequest): Admit {
  return async (request, givenAddress, givenOptions = {}) => {
    if (!request?.headers?.get) throw invalidOption('request', 'a Request', request)
    const clientAddress = parseOption('address', address, givenAddress) ?? undefined
    const options = parseOptions(admitOptions, givenOptions)
    const received = new FetchRequest(request, () => clientAddress)
    const admission = await admit(received, options)
    if (admission.response) return { response: received.respond(admission.response) }
    return { key: admission.key, headers: new Headers(pairsOf(admission.headers)) }
  }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Returns the access that a request needs by its method (RFC 9110, section 9.2.1). */
export function accessOf(method: string): KeyAccess {
  return SAFE_METHODS.has(method) ? 'read' : 'write'
}
