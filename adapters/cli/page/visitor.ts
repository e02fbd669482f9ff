import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { ApiRequest } from '../../../src/index.ts'

/**
 * Returns a secret for a URL that the terminal prints: only people who can read the terminal can
 * use the URL. Checking the IP address of the connection is not enough, because a proxy on this
 * machine may forward the requests of other machines.
 */
export function newSecret(): string {
  return randomBytes(18).toString('base64url')
}

/** Takes equally long for each wrong secret, so response times do not help to guess it. */
export function isSecret(received: string | undefined, secret: string): boolean {
  const bytesOf = (text: string) => Buffer.from(hashOf(text))
  return timingSafeEqual(bytesOf(received ?? ''), bytesOf(secret))
}

/** Returns the text after `Bearer`, also if it is no token: the log must hide it all the same. */
export function sentToken(request: ApiRequest): string | undefined {
  return /^bearer +(\S+)$/i.exec(request.header('authorization') ?? '')?.[1]
}

/** Tokens are secrets, so only their hashes stay in memory. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/**
 * Checks the `Host` header too: a website may let its own host name point to 127.0.0.1 (DNS
 * rebinding), to read the responses of this server. Returns false for requests of a reverse proxy,
 * because the proxy passes on requests of other machines. Some proxies cannot be recognized, so
 * routes also need a secret.
 */
export function isFromThisMachine(request: ApiRequest): boolean {
  const isLocalName = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(request.header('host') ?? '')
  return !isProxied(request) && isLocalName && isLoopback(request.clientAddress ?? '')
}

/**
 * Matches the name of a service in a compose file, `host.docker.internal`, a name in a Kubernetes
 * cluster, and others that no public website can have.
 */
const PRIVATE_NAME = /^(?:[\w-]+|[\w.-]+\.(?:internal|local|localhost|test))$/i

/**
 * Returns whether the `Host` header is one that no website can have: an IP address, a private name,
 * or `ownName`. A website may let its own host name point to this server (DNS rebinding).
 */
export function isSafeHost(request: ApiRequest, ownName: string): boolean {
  const [, host = ''] = /^(\[[\da-f:.]+\]|[^:]+)(?::\d{1,5})?$/i.exec(request.header('host') ?? '') ?? []
  const isOwnName = host.toLowerCase() === ownName.toLowerCase()
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0 || PRIVATE_NAME.test(host) || isOwnName
}

export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/i.test(host)
}

export function isProxied(request: ApiRequest): boolean {
  return ['forwarded', 'via', 'x-forwarded-for'].some((name) => request.header(name) !== undefined)
}
