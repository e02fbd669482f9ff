import { isPetStoreError } from '../../src/errors.ts'
import { memory } from '../../src/index.ts'
import { unusable } from './driver.ts'
import { openPostgres, openRedis } from './engines.ts'
import type { OpenedBackEnd } from './opened-back-end.ts'
import { openSqliteFile } from './sqlite-file.ts'

/** The flags that say where everything is kept. */
export interface PlaceFlags {
  readonly data?: string
  readonly databaseUrl?: string
}

/** The flags of a server, which may count elsewhere. */
export interface BackEndFlags extends PlaceFlags {
  readonly redisUrl?: string
}

/** Opens what the flags of a server name; in memory where they name nothing. */
export async function openBackEnd(flags: BackEndFlags): Promise<OpenedBackEnd> {
  const backEnd = isPersistent(flags) ? await openPlace(flags) : { ...memory(), place: 'memory', close: async () => {} }
  if (flags.redisUrl === undefined) return backEnd
  try {
    const counts = await openRedis(flags.redisUrl)
    const close = async () => void (await Promise.all([backEnd.close(), counts.close()]))
    return { ...backEnd, quota: counts.quota, place: `${backEnd.place}, counted in ${counts.place}`, close }
  } catch (error) {
    await backEnd.close()
    throw error
  }
}

/** Whether anything outlives the command. */
export function isPersistent({ data, databaseUrl }: PlaceFlags): boolean {
  return data !== undefined || databaseUrl !== undefined
}

/** Opens the back end that the flags name, uses it, and closes it. */
export async function withPlace<T>(flags: PlaceFlags, use: (backEnd: OpenedBackEnd) => Promise<T>): Promise<T> {
  const backEnd = await openPlace(flags)
  return usePlace(backEnd, () => use(backEnd)).finally(backEnd.close)
}

/** Uses a back end. If it becomes unavailable, the error names the place and the cause. */
export async function usePlace<T>({ place }: Pick<OpenedBackEnd, 'place'>, use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    throw isPetStoreError(error) && error.code === 'service_unavailable' ? unusable(place, error) : error
  }
}

async function openPlace({ data, databaseUrl }: PlaceFlags): Promise<OpenedBackEnd> {
  if (data !== undefined && databaseUrl !== undefined) throw new Error('--data and --database-url exclude one another')
  if (databaseUrl !== undefined) return openPostgres(databaseUrl)
  if (data !== undefined) return openSqliteFile(data)
  throw new Error('say where everything is kept: --data <file> or --database-url <url>')
}
