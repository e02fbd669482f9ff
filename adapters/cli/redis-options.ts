/** How long an engine may be waited for, in milliseconds. */
export interface Patience {
  /** How long a connection may take to come about. */
  readonly connect: number
  /** How long one may be silent while it is asked before it is given up: its engine may have gone without a word. */
  readonly answer: number
}

/**
 * The options of ioredis. Nothing is tried again, so that callers get their 503 at once: a request whose reply was lost has
 * been counted, and would be counted twice.
 */
export function ioRedisOptions({ connect, answer }: Patience) {
  return { lazyConnect: true, maxRetriesPerRequest: 0, connectTimeout: connect, socketTimeout: answer }
}

/** The options of node-redis, which by itself never connects anew after a `socketTimeout`. */
export function nodeRedisOptions(url: string, { connect, answer }: Patience) {
  const reconnectStrategy = (tries: number) => Math.min(2 ** tries * 50, 2_000)
  const socket = { connectTimeout: connect, socketTimeout: answer, reconnectStrategy }
  return { url, disableOfflineQueue: true, pingInterval: answer / 3, socket }
}
