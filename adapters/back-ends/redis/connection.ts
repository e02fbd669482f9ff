import { PetStoreError } from '../../../src/errors.ts'
import { invalidOption } from '../../../src/schemas/options.ts'
import { innermostMessage } from '../../../src/support/describe-value.ts'
import { hexDigest } from '../../../src/support/hex-digest.ts'
import { unavailable } from '../shared/errors.ts'
import { concealCommand, isForbidden, isMoved, isScriptMissing, isUnavailable } from './errors.ts'

/** A client of ioredis, or its `Cluster`. */
export interface IoRedisClient {
  /** Sends one command. */
  call(command: string, ...args: string[]): Promise<unknown>
}

/** A client of node-redis, or its cluster, pool or sentinel. */
export interface NodeRedisClient {
  /** Runs a Lua script. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** Runs a Lua script that the server already knows, given by its SHA-1. */
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

/** Bun's Redis client. */
export interface BunRedisClient {
  /** Sends one command. */
  send(command: string, args: string[]): Promise<unknown>
}

/**
 * A Redis client. For a client of another library, pass a function that sends one command, given as
 * words.
 */
export type RedisClient = IoRedisClient | NodeRedisClient | BunRedisClient | ((...words: string[]) => Promise<unknown>)

export type RunScript = (key: string, args: string[]) => Promise<unknown>

/** With `EVALSHA`, `script` is the SHA-1 of the script; with `EVAL`, it is the text. */
type Evaluate = (command: 'EVALSHA' | 'EVAL', script: string, key: string, args: string[]) => Promise<unknown>

/** The commands that the user of the client must be permitted to send, as an ACL of Redis names them. */
export const COMMANDS = '+eval +evalsha +time +get +set +del +hget +hset +hdel +hlen +hgetall +pexpire'

/**
 * Returns a function that runs a script. The text of the script is sent only if Redis does not know
 * its SHA-1.
 */
export function runnerOf(client: RedisClient, script: string, prefix: string): RunScript {
  const evaluate = evaluatorOf(client)
  let sha1: string | undefined
  let isChecked = false
  return async (key, args) => {
    sha1 ??= await hexDigest('SHA-1', new TextEncoder().encode(script))
    try {
      // Concurrent calls do not share a check: on Workers, a check would end with the request that
      // has started it.
      if (!isChecked) await rejectSingleNode(evaluate, prefix)
      isChecked = true
      return await evaluate('EVALSHA', sha1, key, args).catch((error) => {
        if (isScriptMissing(error)) return evaluate('EVAL', script, key, args)
        throw error
      })
    } catch (error) {
      concealCommand(error)
      if (isForbidden(error)) throw missingRights(error, prefix)
      throw isUnavailable(error) ? unavailable(error) : error
    }
  }
}

function missingRights(error: unknown, prefix: string): PetStoreError {
  return new PetStoreError(
    'invalid_option',
    `option client: expected a Redis server and user that permit ~${prefix}* ${COMMANDS}, got the error "${innermostMessage(error)}"`,
    { cause: error },
  )
}

/**
 * Tags in eight hash slots of a Redis Cluster, at equal distances from each other. Redis hashes
 * only the text in braces.
 */
const SPREAD_TAGS = ['dlj', '5j7', '130', 'qsu', 'ng4', '7hq', '31v', '7ys']

/**
 * Throws if the client talks to a single node of a cluster. Such a client gets `MOVED` for the keys
 * of other nodes, so most customers would always get 503. The others would get 200, and perhaps the
 * probe of a load balancer too, so nobody would notice.
 */
async function rejectSingleNode(evaluate: Evaluate, prefix: string): Promise<void> {
  try {
    // One after another: a `Cluster` without a queue rejects commands for a node to which it is
    // still connecting.
    for (const tag of SPREAD_TAGS) await evaluate('EVAL', 'return 1', `${prefix}{${tag}}`, [])
  } catch (error) {
    if (!isMoved(error)) throw error
    throw new PetStoreError(
      'invalid_option',
      'option client: expected a client of the whole Redis Cluster, got a client of one of its nodes, which does not follow MOVED; pass new Cluster([{ host, port }]) of ioredis, or createCluster({ rootNodes }) of node-redis',
      { cause: error },
    )
  }
}

function evaluatorOf(client: RedisClient): Evaluate {
  if (typeof client === 'function') return byWords((command, words) => client(command, ...words))
  if (has(client, 'evalSha')) {
    return (command, script, key, args) =>
      client[command === 'EVAL' ? 'eval' : 'evalSha'](script, { keys: [key], arguments: args })
  }
  if (has(client, 'call')) return byWords((command, words) => client.call(command, ...words))
  if (has(client, 'send')) return byWords((command, words) => client.send(command, words))
  throw invalidOption('client', 'a client of ioredis, node-redis or Bun, or a function that sends one command', client)
}

function byWords(send: (command: string, words: string[]) => Promise<unknown>): Evaluate {
  return (command, script, key, args) => send(command, [script, '1', key, ...args])
}

type Clients = Exclude<RedisClient, (...words: string[]) => unknown>

function has<Name extends string>(client: Clients, name: Name): client is Extract<Clients, Record<Name, unknown>> {
  return typeof client === 'object' && client !== null && typeof (client as never)[name] === 'function'
}
