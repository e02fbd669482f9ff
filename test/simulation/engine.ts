import type { Database, Lock, Outcome, State } from './database.ts'

// Simulates PostgreSQL with many sessions. A statement takes locks, and its effects are hidden until its commit. Commits are
// written to the log in order. After a crash, only the commits on disk remain.

/** A statement that has run and not yet committed. */
export interface Transaction extends Outcome {
  /** Whether the commit resets the sequence of the ids, as TRUNCATE does. */
  readonly restarts: boolean
}

export class Engine {
  /** What a new statement sees. */
  visible: State
  /** The state that survives a crash, except that unlogged tables are then empty. */
  onDisk: State
  /** The commits that are not yet on disk, in the order of the log. */
  #log: { readonly outcome: Outcome; readonly ids: string }[] = []
  readonly #open = new Set<Transaction>()
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
    this.visible = this.onDisk = database.empty
  }

  /** Runs a statement up to its commit. Returns nothing if it must wait for a lock of another transaction. */
  async run(statement: string, values: readonly unknown[]): Promise<Transaction | undefined> {
    const open = [...this.#open]
    const held = open.flatMap(({ locks }) => locks.map(({ name }) => name).filter((name) => /^-?\d+$/.test(name)))
    const outcome = await this.#database.evaluate(this.visible, statement, values, held)
    if (open.some((other) => conflict(outcome, other))) return undefined
    const { ids = this.visible.ids } = outcome
    const transaction = { ...outcome, restarts: restarts(this.visible.ids, ids) }
    // A statement changes the sequence before its commit. Only a reset by TRUNCATE waits for the commit.
    if (!transaction.restarts) this.visible = { ...this.visible, ids }
    this.#open.add(transaction)
    return transaction
  }

  commit(outcome: Transaction): void {
    this.#open.delete(outcome)
    const ids = (outcome.restarts && outcome.ids) || this.visible.ids
    this.visible = { ...changed(this.visible, outcome), ids }
    this.#log.push({ outcome, ids })
    // A commit that waits for the disk writes all earlier commits to the disk too.
    if (!outcome.waits) return
    this.onDisk = this.visible
    this.#log = []
  }

  rollBack(transaction: Transaction): void {
    this.#open.delete(transaction)
  }

  /** Restarts PostgreSQL after a crash. The first `further` commits of the log have reached the disk just before the crash. */
  crash(further: number): void {
    let state = this.onDisk
    for (const { outcome, ids } of this.#log.slice(0, further)) state = { ...changed(state, outcome), ids }
    const logged = [...state.rows].filter((row) => !this.#database.unlogged.includes(row.split(' ', 1)[0] as string))
    this.visible = this.onDisk = { rows: new Set(logged), ids: state.ids, era: this.visible.era + 1 }
    this.#log = []
    this.#open.clear()
  }
}

function changed(state: State, { added, removed, locks }: Outcome): State {
  const rows = new Set(state.rows)
  for (const row of removed) rows.delete(row)
  for (const row of added) rows.add(row)
  return { ...state, rows, era: state.era + (locks.some(({ mode }) => mode === 'AccessExclusiveLock') ? 1 : 0) }
}

function restarts(before: string, after: string): boolean {
  return Number.parseInt(after, 10) < Number.parseInt(before, 10) || (before.endsWith('t') && after.endsWith('f'))
}

/** The lock modes that each mode conflicts with, as in table 13.2 of PostgreSQL's manual. */
const CONFLICTS: Readonly<Record<string, RegExp>> = {
  AccessShareLock: /^AccessExclusive/,
  RowShareLock: /^(Access)?Exclusive/,
  RowExclusiveLock: /^(Share(RowExclusive)?Lock|(Access)?Exclusive)/,
  ShareUpdateExclusiveLock: /^(Share|(Access)?Exclusive)/,
  ShareLock: /^(RowExclusive|ShareUpdate|ShareRow|(Access)?Exclusive)/,
  ShareRowExclusiveLock: /^(RowExclusive|Share|(Access)?Exclusive)/,
  ExclusiveLock: /^(Row|Share|(Access)?Exclusive)/,
  AccessExclusiveLock: /./,
}

function conflict(one: Outcome, other: Outcome): boolean {
  const isLocked = (lock: Lock) =>
    other.locks.some(({ name, mode }) => name === lock.name && CONFLICTS[lock.mode]?.test(mode))
  const keys = new Set(other.added.flatMap(uniqueKey))
  return one.locks.some(isLocked) || one.added.flatMap(uniqueKey).some((key) => keys.has(key))
}

/** Returns the unique key of a row. If two transactions add rows with the same unique key, the second waits for the first. */
function uniqueKey(row: string): readonly string[] {
  const table = row.split(' ', 1)[0] as string
  const { id, key_sha256 } = JSON.parse(row.slice(table.length))
  return table === 'durable' ? [] : [`${table} ${id ?? key_sha256}`]
}
