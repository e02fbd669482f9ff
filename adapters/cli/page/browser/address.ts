import { petStatuses } from '../../../../src/model.ts'

/** The shown page of animals. The URL contains it, so that Back, Reload and shared links work. */
export interface PageAddress {
  readonly status: string
  readonly limit: string
  /** The cursors of all pages up to the shown page. The first page has no cursor. */
  readonly cursors: readonly (string | undefined)[]
  /** False after a link to a later page: the cursors of the pages before it are unknown. */
  readonly isTrailKnown: boolean
}

const DEFAULT_LIMIT = '10'

/** The allowed values; any other value in the URL is ignored. */
export const STATUSES: readonly string[] = ['', ...petStatuses]
export const LIMITS: readonly string[] = ['5', '10', '20', '100']

/** @param state - the state of the history entry, with the cursors up to the shown page */
export function readAddress(search: string, state: unknown): PageAddress {
  const query = new URLSearchParams(search)
  const status = query.get('status') ?? ''
  const limit = query.get('limit') ?? DEFAULT_LIMIT
  const cursor = query.get('cursor') ?? undefined
  const { cursors } = Object(state) as { cursors?: unknown }
  const isTrailKnown = Array.isArray(cursors) && (cursors.at(-1) ?? undefined) === cursor
  const trail = isTrailKnown ? cursors.map((one) => one ?? undefined) : [undefined, cursor]
  return {
    status: STATUSES.includes(status) ? status : '',
    limit: LIMITS.includes(limit) ? limit : DEFAULT_LIMIT,
    cursors: cursor === undefined ? [undefined] : trail,
    isTrailKnown: cursor === undefined || isTrailKnown,
  }
}

/** Returns the query of the URL, with `?`; empty for the first page of all animals. */
export function queryOf({ status, limit, cursors }: PageAddress): string {
  const query = new URLSearchParams()
  const cursor = cursors.at(-1)
  if (status !== '') query.set('status', status)
  if (limit !== DEFAULT_LIMIT) query.set('limit', limit)
  if (cursor !== undefined) query.set('cursor', cursor)
  return query.size === 0 ? '' : `?${query}`
}
