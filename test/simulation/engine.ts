import type { Database, Lock, Outcome, State } from './database.ts'

// PostgreSQL with many sessions: a statement takes its locks and hides its effects until its commit, commits go to the log in
// their order, and a crash keeps what is on disk.

/** A statement that has run and not yet committed. */
export interface Transaction extends Outcome {
  /** Whether the commit sets the sequence back. */
  readonly restarts: boolean
}

export class Engine {
  /** What a new statement sees. */
  visible: State
  /** What a crash cannot take back, apart from unlogged tables. */
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
    // The sequence does not wait for the commit, except if TRUNCATE begins it anew.
    if (!transaction.restarts) this.visible = { ...this.visible, ids }
    this.#open.add(transaction)
    return transaction
  }

  commit(outcome: Transaction): void {
    this.#open.delete(outcome)
    const ids = (outcome.restarts && outcome.ids) || this.visible.ids
    this.visible = { ...changed(this.visible, outcome), ids }
    this.#log.push({ outcome, ids })
    // A commit that waits for the disk takes all earlier ones along.
    if (!outcome.waits) return
    this.onDisk = this.visible
    this.#log = []
  }

  rollBack(transaction: Transaction): void {
    this.#open.delete(transaction)
  }

  /** Restarts PostgreSQL with the log on disk, and as many further commits as the disk happens to have. */
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

/** A second transaction that adds a row with the same unique key waits for the first one. */
function uniqueKey(row: string): readonly string[] {
  const table = row.split(' ', 1)[0] as string
  const { id, key_sha256 } = JSON.parse(row.slice(table.length))
  return table === 'durable' ? [] : [`${table} ${id ?? key_sha256}`]
}
