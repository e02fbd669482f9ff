import { type InitialPet, memory } from '../../../src/index.ts'
import type { BackEndFlags, DatabaseFlags } from '../terminal/flags.ts'
import { closeOnFailure, type OpenedBackEnd, using } from './driver.ts'
import { openPostgres, openRedis } from './servers.ts'
import { openSqliteFile } from './sqlite-file.ts'

/** Without flags, the back end is in memory, and begins with `pets`. */
export async function openBackEnd(flags: BackEndFlags, pets: readonly InitialPet[] = []): Promise<OpenedBackEnd> {
  const backEnd = isPersistent(flags)
    ? await openDatabase(flags)
    : { ...memory({ pets }), name: 'memory', close: async () => {} }
  const { redisUrl } = flags
  if (redisUrl === undefined) return backEnd
  const counts = await closeOnFailure(backEnd.close, () => openRedis(redisUrl))
  const close = async () => {
    await Promise.all([backEnd.close(), counts.close()])
  }
  return { ...backEnd, quota: counts.quota, name: `${backEnd.name} (request counts in ${counts.name})`, close }
}

export function isPersistent({ data, databaseUrl }: DatabaseFlags): boolean {
  return data !== undefined || databaseUrl !== undefined
}

/** Closes the back end after `use`. With `redisUrl`, the counts are in Redis. */
export async function withCounts<T>(flags: BackEndFlags, use: (backEnd: OpenedBackEnd) => Promise<T>): Promise<T> {
  const { redisUrl, ...database } = flags
  return withDatabase(database, async (backEnd) => {
    if (redisUrl === undefined) return use(backEnd)
    const counts = await openRedis(redisUrl)
    try {
      return await use({ ...backEnd, quota: counts.quota })
    } finally {
      await counts.close()
    }
  })
}

/** Closes the back end after `use`. Errors name the file or the database. */
export async function withDatabase<T>(flags: DatabaseFlags, use: (backEnd: OpenedBackEnd) => Promise<T>): Promise<T> {
  const backEnd = await openDatabase(flags)
  try {
    return await using(backEnd.name, () => use(backEnd))
  } finally {
    await backEnd.close()
  }
}

async function openDatabase({ data, databaseUrl }: DatabaseFlags): Promise<OpenedBackEnd> {
  if (data !== undefined && databaseUrl !== undefined)
    throw new Error('--data and --database-url cannot be combined: give one of them')
  if (databaseUrl !== undefined) return openPostgres(databaseUrl)
  if (data !== undefined) return openSqliteFile(data)
  throw new Error('the database of the animals and keys is missing: give --data <file> or --database-url <url>')
}
