// Shared by all servers of the bench. This file runs on Node and Bun.
import process from 'node:process'

/** The number of animals in each server before the measurement starts. */
export const PETS = Number(process.env.BENCH_PETS ?? 1000)
/** Limits that no measurement reaches, so that every request is counted and served. */
export const LIMITS = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }
/** The tokens of the servers without petstore-kit: `main` never reaches its limit; `limited` may send one request per minute. */
export const TOKENS = { main: 'pet_bench_main', limited: 'pet_bench_limited' }
export const STATUSES = ['available', 'pending', 'sold']

/** Returns the animal at an index, without its id. Indexes begin with 0. */
export const pet = (i) => ({ name: `Animal number ${i}`, categoryId: (i % 7) + 1, status: STATUSES[i % 3] })
/** The animal that every create request sends. */
export const created = pet(1000)

/** Returns the limit per minute of a token, for the servers without petstore-kit. */
export const limitOf = (authorization) => (authorization === `Bearer ${TOKENS.limited}` ? 1 : LIMITS.perMinute)
/** Returns whether a token is valid, for the servers without petstore-kit. */
export const isValidToken = (token) => token === TOKENS.main || token === TOKENS.limited

/**
 * Prints the port of this server and the tokens that it knows, for the bench. Then replies to messages: to `usage` with the CPU
 * time of this process in microseconds and its memory in bytes, to any other message with what `reply` returns.
 */
export function ready(port, tokens = TOKENS, reply = async () => {}) {
  process.on('message', async (message) => {
    if (message !== 'usage') return process.send(await reply(message))
    const { user, system } = process.cpuUsage()
    process.send({ cpu: user + system, memory: process.memoryUsage.rss() })
  })
  process.once('disconnect', () => process.exit())
  console.log(JSON.stringify({ port, tokens }))
}

/** Imports an entry of petstore-kit, from the folder `PETSTORE_KIT_DIST` if it is set, otherwise from `dist` of this checkout. */
export function importKit(entry = 'index') {
  const dist = process.env.PETSTORE_KIT_DIST ?? `${import.meta.dirname}/../../dist`
  return import(`file://${dist}/${entry}.js`)
}

/** Adds animals to a storage of petstore-kit, many at a time, because engines share a commit among them. */
export async function fill(storage, count = PETS) {
  for (let from = 0; from < count; from += 1_000) {
    const indexes = Array.from({ length: Math.min(1_000, count - from) }, (_, i) => from + i)
    await Promise.all(indexes.map((i) => storage.create({ ...pet(i), categoryId: BigInt(pet(i).categoryId) }, {})))
  }
}

/** Creates a pet store with animals, and two keys with the limits of `TOKENS`. The default back end is `memory()`. */
export async function filledStore(backEnd, count = PETS) {
  const { createPetStore, memory } = await importKit()
  const all = backEnd ?? memory()
  await fill(all.storage, count)
  const issue = async (limits) => (await all.keyStore.issue({ plan: 'enterprise', limits })).token
  const tokens = { main: await issue(LIMITS), limited: await issue({ ...LIMITS, perMinute: 1 }) }
  // With the default limit of anonymous clients, requests without a valid key would soon get 429 instead of 401.
  return { petStore: createPetStore({ ...all, anonymous: LIMITS }), tokens }
}
