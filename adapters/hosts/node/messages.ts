import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'

/** A request of Node, in HTTP/1 or in the compatibility API of HTTP/2. */
export type NodeIncoming = IncomingMessage | Http2ServerRequest

/** A response of Node, in HTTP/1 or in the compatibility API of HTTP/2. */
export type NodeOutgoing = ServerResponse | Http2ServerResponse

/** A request of Node, with what routers and body parsers add to it. */
export interface HostRequest extends IncomingMessage {
  /** The whole request target, if a router has shortened `url`. */
  readonly originalUrl?: string | undefined
  /** The part of the path that Express has matched. */
  readonly baseUrl?: string | undefined
  /** The client's address, as Express has found it with its setting `trust proxy`. */
  readonly ip?: unknown
  /** The app of Express. */
  readonly app?: { get?(setting: string): unknown } | undefined
  /** The result of a body parser, if one has run before. */
  readonly body?: unknown
  /** The exact bytes of the body, if the host has kept them. */
  readonly rawBody?: unknown
}
