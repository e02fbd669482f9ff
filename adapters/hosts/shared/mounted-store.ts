import * as z from 'zod/mini'
import { PetStoreError } from '../../../src/errors.ts'
import { isAborted } from '../../../src/http/request.ts'
import { requestIdIn } from '../../../src/http/request-id.ts'
import type { ApiRequest, ApiResponse, PetStore } from '../../../src/index.ts'
import { adapterFunctionsOf } from '../../../src/reports/adapter-functions.ts'
import { expecting, type Shape } from '../../../src/schemas/expected.ts'
import { optionsOf } from '../../../src/schemas/options.ts'
import { parseOption, parseOptions } from '../../../src/schemas/parse-options.ts'
import {
  addressReader,
  canonicalAddress,
  FORWARDED,
  FORWARDED_FOR,
  type TrustProxy,
  trustProxy,
} from './client-address.ts'

/** The options of the adapters for hosts without a setting of their own for proxies. */
export interface HandlerOptions {
  /** The proxies whose entries in `X-Forwarded-For` or `Forwarded` are trusted. @default false */
  readonly trustProxy?: TrustProxy | undefined
}

export const handlerShape = { trustProxy: z.optional(trustProxy) } satisfies Shape<HandlerOptions>
const handlerOptions = optionsOf<HandlerOptions>(handlerShape)

export const petStore = z.custom<PetStore>(
  (value) => typeof Object(value).handle === 'function' && typeof Object(value).basePath === 'string',
  expecting('a store of createPetStore, with handle and basePath'),
)

const PAGE = 'See https://github.com/petstore-kit/petstore-kit/blob/main/docs/mounting.md#behind-a-proxy'

const UNTRUSTED =
  'a request has X-Forwarded-For or Forwarded, but the option trustProxy is not set, so requests without a valid key are counted ' +
  'by the address of the connection. Behind a proxy, this is one address for all clients: set trustProxy to the number of proxies ' +
  `or to their addresses. Without a proxy, set trustProxy: false. ${PAGE}`

const UNKNOWN_PEER =
  'a request has X-Forwarded-For or Forwarded, but the host does not tell the address of its connection, so no list in trustProxy ' +
  'can contain it, and requests without a valid key are not counted: pass the address to the handler, or set trustProxy to the ' +
  `number of proxies. ${PAGE}`

const CONFLICT =
  'a request has X-Forwarded-For and Forwarded, which contradict each other, so requests of this kind without a valid key are ' +
  'counted by the address of the connection. A client may have sent one of them: let the proxy remove the header that it does not ' +
  `write. ${PAGE}`

const UNREAD =
  'a request has Forwarded and no X-Forwarded-For, the only header in which the host looks for the client, so requests without a ' +
  'valid key are counted by the address of the connection, which is one address for all clients behind a proxy: let the proxy ' +
  `write X-Forwarded-For. ${PAGE}`

type HeaderReader = (name: string) => string | undefined

/** Reports an error, unless the client has disconnected, and returns a 500. */
export type Fail = (error: unknown, request: ApiRequest | undefined) => ApiResponse

/**
 * Throws for an invalid store or option, when the handler is created and not at the first request.
 */
export function mountStore(given: PetStore, options: HandlerOptions) {
  const { fail, notifyOnce } = checkStore(given)
  const { trustProxy } = parseOptions(handlerOptions, options)
  const readAddress = addressReader(trustProxy, () => notifyOnce(CONFLICT))
  return {
    fail,
    /**
     * Returns the client's address. If proxies are used, but the option `trustProxy` does not fit,
     * reports this once.
     */
    readAddress(peer: string | undefined, header: HeaderReader): string | undefined {
      if (hasForwarded(header)) {
        if (trustProxy === undefined) notifyOnce(UNTRUSTED)
        if (Array.isArray(trustProxy) && peer === undefined) notifyOnce(UNKNOWN_PEER)
      }
      return readAddress(peer, header(FORWARDED_FOR), header(FORWARDED))
    },
  }
}

/**
 * Returns the address that the host has found, or the one of the connection if the host has found
 * something else, such as text that a client has sent.
 * @param trusts - whether the host trusts proxies
 */
export type HostAddressReader = (
  found: unknown,
  peer: string | undefined,
  header: HeaderReader,
  trusts: boolean,
) => string | undefined

/**
 * Mounts a store in a host that finds the client itself, by a setting of its own for proxies.
 * @param setting - how to write this setting
 */
export function mountWithHostSetting(given: PetStore, setting: string) {
  const { fail, notifyOnce } = checkStore(given)
  const notice =
    'a request has X-Forwarded-For or Forwarded, but the host trusts no proxy, so requests without a valid key are counted by the ' +
    `address of the connection. Behind a proxy, this is one address for all clients: set ${setting}. ${PAGE}`
  const readAddress: HostAddressReader = (found, peer, header, trusts) => {
    if (!trusts && hasForwarded(header)) notifyOnce(notice)
    if (trusts && header(FORWARDED) !== undefined && header(FORWARDED_FOR) === undefined) notifyOnce(UNREAD)
    return canonicalAddress(typeof found === 'string' ? found : undefined) ?? canonicalAddress(peer)
  }
  return { fail, readAddress }
}

/** The schema of `trustProxy` for a host with a setting of its own. */
export function noTrustProxy(setting: string) {
  return z.optional(z.undefined(expecting(`none: set ${setting}`)))
}

function hasForwarded(header: HeaderReader): boolean {
  return header(FORWARDED_FOR) !== undefined || header(FORWARDED) !== undefined
}

function checkStore(given: PetStore) {
  const store = parseOption('petStore', petStore, given)
  const notices = new Set<string>()
  const fail: Fail = (error, request) => {
    const response = adapterFunctionsOf(store).errorResponse('internal_error', request)
    if (!request || !isAborted(request)) report(store, error, request, requestIdIn(response))
    return response
  }
  return {
    fail,
    notifyOnce(notice: string): void {
      if (notices.has(notice)) return
      notices.add(notice)
      report(store, new PetStoreError('untrusted_forwarded_for', notice), undefined)
    },
  }
}

/** Passes an error to `onError`. */
export function report(petStore: PetStore, error: unknown, request: ApiRequest | undefined, requestId?: string): void {
  adapterFunctionsOf(petStore).reportError(error, { method: request?.method, target: request?.target, requestId })
}
