import { nextTick } from 'node:process'
import { setImmediate } from 'node:timers'
import { codeOf, PetStoreError } from '../../../src/errors.ts'
import { BodyBytes } from '../../../src/http/body-bytes.ts'
import { payloadTooLarge, tooLarge } from '../../../src/http/read-body.ts'
import { declaredLength, isHttp2, type NodeIncoming, type NodeOutgoing, sentHeader } from './messages.ts'

/**
 * How many bytes of a body are copied before the store asks for the body, which it does after the
 * look-up of the key. The limit of the store is not known until then.
 */
const COPIED_BYTES = 1_048_576

/**
 * The body of a request. Code of the host may read the same stream, and may begin before the store
 * asks for the body. Then the bytes are copied as they pass.
 */
export class NodeBody {
  readonly #incoming: NodeIncoming
  readonly #outgoing: NodeOutgoing
  #isAsked = false
  #copy: Collected | undefined

  constructor(incoming: NodeIncoming, outgoing: NodeOutgoing) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    const { method } = incoming
    if (method === 'GET' || method === 'HEAD' || isPartlyRead(incoming)) return
    if (isReadByHost(incoming)) this.#beginCopy()
    // The host may also begin to read just after it has called the handler. The first bytes pass in
    // a later tick than this one.
    else
      nextTick(() => {
        if (!this.#isAsked && isReadByHost(incoming)) this.#beginCopy()
      })
  }

  #beginCopy(): void {
    this.#copy = collect(this.#incoming, COPIED_BYTES)
    // The store may never ask for the body. A rejection would then end the process.
    this.#copy.whole.catch(() => {})
  }

  /** Returns the whole body, or what the host has kept of a body that it has already read. */
  async read(limit: number): Promise<Uint8Array> {
    const incoming = this.#incoming
    const copy = this.#copy
    this.#isAsked = true
    if (declaredLength(incoming) > limit) throw tooLarge(limit)
    if (copy === undefined) {
      // In HTTP/2, Node emits `end` for an aborted body too, as if it were complete.
      if (isHttp2(incoming) && incoming.aborted && !incoming.readableDidRead) throw new PetStoreError('incomplete_body')
      // `incoming.body` does not show whether the body was read: parsers set it even if they have
      // read nothing.
      if (isPartlyRead(incoming) || isMockWithBody(incoming)) return readBodyOfHost(incoming, limit)
    }
    if (isContinueDue(incoming, this.#outgoing)) this.#outgoing.writeContinue()
    const { bytes, whole } = copy ?? collect(incoming, limit)
    bytes.limit = limit
    keepFlowing(incoming)
    return copy === undefined ? whole : withinLimit(whole, limit)
  }
}

/** Also rejects a copy that was complete before `limit` was known. */
async function withinLimit(copy: Promise<Uint8Array>, limit: number): Promise<Uint8Array> {
  try {
    const body = await copy
    if (body.byteLength <= limit) return body
  } catch (error) {
    if (codeOf(error) !== 'payload_too_large' || limit >= COPIED_BYTES) throw error
  }
  throw tooLarge(limit)
}

function isPartlyRead(incoming: NodeIncoming): boolean {
  return incoming.readableDidRead === true || incoming.readableEnded === true
}

function isReadByHost(incoming: NodeIncoming): boolean {
  return incoming.readableFlowing === true || countListeners(incoming, 'readable') > 0
}

/** Mock requests may have no `listenerCount`. */
function countListeners(incoming: NodeIncoming, event: string): number {
  return incoming.listenerCount?.(event) ?? 0
}

async function readBodyOfHost(incoming: NodeIncoming, limit: number): Promise<Uint8Array> {
  if (incoming.readableFlowing && !incoming.readableEnded) {
    const { whole } = collect(incoming, limit)
    keepFlowing(incoming)
    await whole
  }
  const body = bodyOfHost(incoming)
  if (body.byteLength > limit) throw tooLarge(limit)
  return body
}

interface Collected {
  readonly bytes: BodyBytes
  readonly whole: Promise<Uint8Array>
}

/**
 * Collects the chunks of a stream that somebody reads. Other listeners may need the body too, so
 * this function keeps its own listeners even beyond the limit.
 */
function collect(incoming: NodeIncoming, limit: number): Collected {
  const bytes = new BodyBytes(limit)
  const whole = new Promise<Uint8Array>((resolve, reject) => {
    let settled = false
    const fail = (error: PetStoreError) => {
      settled = true
      reject(error)
    }
    const onBreak = (cause?: unknown) => {
      if (!settled) fail(new PetStoreError('incomplete_body', undefined, { cause }))
    }
    const onData = (chunk: unknown) => {
      if (settled) return
      const part = toBytes(chunk, incoming.readableEncoding)
      const problem = part && bytes.add(part)
      if (!part) fail(lost('the host reads the body as text, and some bytes may have been replaced'))
      else if (problem !== undefined) fail(payloadTooLarge(problem))
    }
    const onEnd = () => {
      if (settled) return
      settled = true
      resolve(bytes.all())
    }
    if (incoming.destroyed) return onBreak()
    incoming.on('data', onData)
    incoming.on('error', onBreak)
    incoming.on('close', onBreak)
    if (isHttp2(incoming)) {
      // Node emits `end` for an aborted body too, just before `aborted`, so `onEnd` must wait.
      incoming.on('aborted', onBreak)
      incoming.on('end', () => setImmediate(onEnd))
    } else incoming.on('end', onEnd)
  })
  return { bytes, whole }
}

/**
 * Makes the stream flow until its end. If other code pauses the stream, this function resumes it in
 * the next event-loop turn. In the same turn, code that pauses it again would cause an endless loop.
 */
function keepFlowing(incoming: NodeIncoming): void {
  const resume = () => {
    if (!incoming.readableEnded) incoming.resume?.()
  }
  // One listener is the one of `collect`.
  if (countListeners(incoming, 'data') > 1) incoming.on('pause', () => setImmediate(resume))
  if (incoming.readableFlowing !== true) setFlowing(incoming)
}

/**
 * Returns `undefined` if bytes are lost: `setEncoding` replaces bytes that are not UTF-8 by U+FFFD.
 */
function toBytes(chunk: unknown, encoding: string | null | undefined): Uint8Array | undefined {
  if (typeof chunk !== 'string') return chunk as Uint8Array
  return chunk.includes('\ufffd') ? undefined : Buffer.from(chunk, (encoding ?? 'utf8') as BufferEncoding)
}

/**
 * If the host listens to `readable`, `resume` has no effect. Then this function reads the stream at
 * each `readable` event, and once at the start, because no event announces data that has already
 * arrived.
 */
function setFlowing(incoming: NodeIncoming): void {
  if (countListeners(incoming, 'readable') === 0) {
    incoming.resume?.()
    return
  }
  const pull = () => {
    let chunk = incoming.read()
    while (chunk !== null) chunk = incoming.read()
  }
  incoming.on('readable', pull)
  pull()
}

const SHORTEST = '{"name":"a","categoryId":1}'
const TOO_DEEP = 'The body cannot be read as JSON: it is nested too deeply.'

/**
 * Returns a request body that the host has already read: the exact bytes if the host kept them,
 * otherwise the parsed object as JSON again. Throws `body_already_read` if parsing may have lost
 * something, such as digits of a large number.
 */
export function bodyOfHost(incoming: NodeIncoming): Uint8Array {
  const { rawBody, body } = incoming
  for (const bytes of [rawBody, body]) if (bytes instanceof Uint8Array) return bytes
  if (typeof rawBody === 'string') {
    // Decoders replace bytes that are not UTF-8 by U+FFFD.
    if (rawBody.includes('\ufffd'))
      throw lost('the host has kept the body as text, and some bytes may have been replaced')
    return Buffer.from(rawBody)
  }
  const length = sentHeader(incoming, 'content-length')
  // In HTTP/2, a request may have a body although no header announces it. So may a mock request.
  const mayHaveBody =
    sentHeader(incoming, 'transfer-encoding') !== undefined || isHttp2(incoming) || isMockWithBody(incoming)
  if (length === undefined ? !mayHaveBody : Number(length) === 0) return new Uint8Array()
  if (typeof body !== 'object' || body === null)
    throw lost('the host has read the body and kept neither its bytes nor the parsed object')
  // Some parsers set `{}` without parsing. Accept `{}` only for a body too short to be an animal:
  // such a body is invalid anyway.
  if (Object.keys(body).length === 0 && !Array.isArray(body) && !(Number(length) < SHORTEST.length))
    throw lost('the host has read the body and kept only an empty object')
  return Buffer.from(rewrite(body))
}

/**
 * Returns whether a request is no stream, and has its body from the start, as a mock request of
 * node-mocks-http may have.
 */
function isMockWithBody({ readableDidRead, body, rawBody }: NodeIncoming): boolean {
  return readableDidRead === undefined && (rawBody !== undefined || Object.keys(body ?? {}).length > 0)
}

function rewrite(body: object): string {
  try {
    return JSON.stringify(body, (_name, value: unknown) => {
      // Integers beyond 2^53 may have been rounded, perhaps to infinity. Rounded fractions cannot
      // be recognized, so they pass.
      if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
        throw lost(`the host has parsed the body and may have rounded the number ${value}`)
      return value
    })
  } catch (error) {
    throw error instanceof RangeError ? new PetStoreError('malformed_json', TOO_DEEP) : error
  }
}

function lost(why: string): PetStoreError {
  return new PetStoreError(
    'body_already_read',
    `${why}: mount the pet store before the body parser, or keep rawBody on Node's request (in Koa, context.req)`,
  )
}

/**
 * Private members of Node's response in HTTP/1, checked with Node 20 to 26. No public member says
 * whether Node has sent "100 Continue". If Node removes them, a client that waits for "100
 * Continue" sends its body only after a time limit of its own.
 */
type PrivateFlags = Record<'_expect_continue' | '_sent100', unknown>

/**
 * Returns whether the client waits for "100 Continue" before it sends the body (RFC 9110, section
 * 10.1.1). Node does not send "100 Continue" if the host listens to `checkContinue`.
 */
export function isContinueDue(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  if (!isHttp2(incoming)) {
    const { _expect_continue, _sent100 } = outgoing as NodeOutgoing & PrivateFlags
    return _expect_continue === true && _sent100 === false
  }
  const isSent = outgoing.stream?.sentInfoHeaders?.some((info) => info[':status'] === 100)
  return incoming.headers?.expect === '100-continue' && !isSent
}
