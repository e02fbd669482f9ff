import type { PGlite } from '@electric-sql/pglite'
import { type PostgresValue, postgres } from '../../adapters/back-ends/postgres/index.ts'
import type { CreatedPet, NewPet, PetStorage } from '../../src/index.ts'
import { resetClock, timers } from './clock.ts'
import { type Database, openDatabase } from './database.ts'
import { Engine, type Transaction } from './engine.ts'
import { BrokenRule, IMPORTED, type Readable, Rules, readableOf } from './rules.ts'
import { drawSchedule, type Schedule, type Step, shortest } from './schedule.ts'

type CreateOnce = NonNullable<PetStorage['createOnce']>

// Processes with the real storage, on a simulated PostgreSQL. A schedule says which statement goes on next, and what fails.

export interface Finding {
  readonly seed: number
  /** How many schedules were run, including the one that breaks the rule. */
  readonly schedules: number
  readonly broken: BrokenRule
  /** The shortest schedule that breaks the rule, in words. */
  readonly trace: readonly string[]
}

/** Runs schedules until one breaks a rule. The first has the seed `seed`, the next `seed + 1`. */
export async function simulate(pglite: PGlite, seed: number, schedules: number): Promise<Finding | undefined> {
  const database = await openDatabase(pglite)
  for (let number = 0; number < schedules; number++) {
    const schedule = drawSchedule(seed + number)
    const { broken } = await new World(database, schedule).run()
    if (broken === undefined) continue
    const fails = async (shorter: Schedule) => (await new World(database, shorter).run()).broken?.rule === broken.rule
    const world = await new World(database, await shortest(schedule, fails)).run()
    return { seed: seed + number, schedules: number + 1, broken: world.broken as BrokenRule, trace: world.trace }
  }
  return undefined
}

/** A statement on its way: sent, then running (until its commit), then answered. */
interface Statement {
  readonly from: string
  readonly text: string
  readonly values: readonly unknown[]
  readonly resolve: (result: { readonly rows: readonly unknown[] }) => void
  readonly reject: (error: unknown) => void
  transaction?: Transaction | undefined
  /** Whether PostgreSQL has crashed since the statement was sent, and the process has not noticed it yet. */
  isDead?: boolean
}

class World {
  readonly trace: string[] = []
  broken: BrokenRule | undefined
  readonly #schedule: Schedule
  readonly #engine: Engine
  readonly #rules = new Rules()
  readonly #statements = new Set<Statement>()
  readonly #processes: readonly PetStorage[]
  /** Reads the animals that are visible now. Its statements run immediately: the schedule does not delay them. */
  readonly #reader: PetStorage
  /** The last id that each process has read. */
  readonly #cursors = new Map<number, bigint>()
  #unanswered = 0

  constructor(database: Database, schedule: Schedule) {
    resetClock()
    this.#schedule = schedule
    this.#engine = new Engine(database)
    this.#processes = Array.from({ length: schedule.processes }, (_, number) => {
      const query = (text: string, values: PostgresValue[] = []) => this.#send(`process ${number + 1}`, text, values)
      return postgres({ query }, { clock: { now: () => 1e12 }, onError() {} }).storage
    })
    this.#reader = postgres({
      query: (text, values = []) => database.evaluate(this.#engine.visible, text, values, []),
    }).storage
  }

  async run(): Promise<this> {
    try {
      for (const step of this.#schedule.steps) await this.#carryOut(step)
      await this.#finish()
    } catch (error) {
      this.broken ??= error as BrokenRule
    }
    if (this.broken !== undefined && !(this.broken instanceof BrokenRule)) throw this.broken
    return this
  }

  /** Lets all statements finish without faults. Each request must get a response, and then another create must succeed. */
  async #finish(): Promise<void> {
    await this.#goOn()
    if (this.#unanswered > 0)
      throw new BrokenRule('Each request gets a response', 'no request left', `${this.#unanswered} left`)
    this.#note('no more faults')
    this.#add(this.#schedule.seed % this.#processes.length, { name: 'last', categoryId: 1n }, true)
    await this.#goOn()
  }

  async #goOn(): Promise<void> {
    await this.#settle()
    for (let steps = 0; this.#statements.size > 0 && steps < 300; steps++)
      for (const statement of this.#statements) {
        if (statement.transaction === undefined) await this.#start(statement, true)
        else await this.#commit(statement, true)
        await this.#settle()
      }
  }

  async #carryOut(step: Step): Promise<void> {
    if ('process' in step && step.process >= this.#processes.length) return
    switch (step.kind) {
      case 'create':
        this.#add(step.process, this.#pet('pet'))
        break
      case 'createOnce': {
        const name = `key ${step.key}`
        this.#add(step.process, this.#pet(step.changed ? `${name}, changed` : name), false, name)
        break
      }
      case 'list':
        this.#list(step.process, step.onward ? this.#cursors.get(step.process) : undefined, step.status)
        break
      case 'get':
        this.#get(step.process, BigInt(1 + (step.pick % (this.#rules.readable.size + 2))))
        break
      case 'import':
        this.#import(step.chooses)
        break
      case 'truncate':
        this.#host(`TRUNCATE petstore.pets${step.restarts ? ' RESTART IDENTITY' : ''}`)
        break
      case 'timeout':
        this.#timeOut(step.pick)
        break
      case 'crash':
        await this.#crash(step.further, step.hangs)
        break
      case 'run':
        await this.#withOne(step.pick, false, (statement) => this.#start(statement, step.through))
        break
      case 'commit':
      case 'lose':
        await this.#withOne(step.pick, true, (statement) => this.#commit(statement, step.kind === 'commit'))
        break
      case 'refuse':
        await this.#withOne(step.pick, step.late, (statement) => this.#refuse(statement))
        break
    }
    await this.#settle()
  }

  // The following methods act as the clients and the host.

  #pet(name: string): NewPet {
    return { name, categoryId: 1n, status: 'sold' }
  }

  #add(process: number, pet: NewPet, mustSucceed = false, key?: string): void {
    const { era } = this.#rules
    const request = `process ${process + 1}: add "${pet.name}"${key === undefined ? '' : ` with the key "${key}"`}`
    const storage = this.#processes[process] as PetStorage
    const create = async (): Promise<CreatedPet> =>
      key === undefined
        ? storage.create(pet)
        : (storage.createOnce as CreateOnce)(pet, { scope: 'a', key, fingerprint: pet.name })
    this.#answer(
      request,
      async () => {
        const { earlier, ...created } = await create()
        return { earlier, created }
      },
      ({ earlier, created }) => {
        const status = earlier === 'different' ? 409 : 201
        this.#note(`${request}: ${status}, id ${created.id}`)
        if (status === 201 && this.#rules.era === era) this.#rules.acknowledge(created, key)
      },
      mustSucceed,
    )
  }

  #list(process: number, after: bigint | undefined, sold: boolean): void {
    const since = this.#rules.history.length - 1
    const query = { limit: 2, after, status: sold ? ('sold' as const) : undefined }
    const request = `process ${process + 1}: list${sold ? ' sold' : ''}${after === undefined ? '' : ` after ${after}`}`
    const select = (readable: Readable) =>
      new Map(
        [...readable]
          .filter(([id, text]) => id > (after ?? 0n) && (!sold || text.endsWith('sold')))
          .slice(0, query.limit),
      )
    this.#answer(
      request,
      async () => (this.#processes[process] as PetStorage).list(query),
      (pets) => {
        this.#note(`${request}: ${pets.map(({ id }) => id).join(', ') || 'no animal'}`)
        this.#rules.answered('list', since, pets, select)
        this.#cursors.set(process, pets.at(-1)?.id ?? after ?? 0n)
      },
    )
  }

  #get(process: number, id: bigint): void {
    const since = this.#rules.history.length - 1
    const request = `process ${process + 1}: get ${id}`
    const select = (readable: Readable) => new Map([...readable].filter(([other]) => other === id))
    this.#answer(
      request,
      async () => (this.#processes[process] as PetStorage).get(id),
      (pet) => {
        this.#note(`${request}: ${pet ? 'found' : 'not found'}`)
        this.#rules.answered('look-up', since, pet ? [pet] : [], select)
      },
    )
  }

  #answer<T>(request: string, call: () => Promise<T>, check: (result: T) => void, mustSucceed = false): void {
    this.#note(request)
    this.#unanswered++
    const outcome = call().then(check, (error: { code?: string }) => {
      this.#note(`${request}: ${error.code === 'service_unavailable' ? 503 : error}`)
      if (mustSucceed || error.code !== 'service_unavailable')
        throw new BrokenRule(
          mustSucceed ? 'A create succeeds when all faults are over' : 'Each create gets 201 or 503',
          '201',
          String((error as Error).cause ?? error),
        )
    })
    outcome
      .catch((error) => {
        this.broken ??= error
      })
      .finally(() => this.#unanswered--)
  }

  #import(chooses: boolean): void {
    const { name } = IMPORTED
    const id = chooses ? '(SELECT last_value + 2 FROM petstore.pet_ids)' : "nextval('petstore.pet_ids')"
    this.#host(`INSERT INTO petstore.pets VALUES (${id}, '${name}', 1, 'sold')`)
  }

  #host(statement: string): void {
    this.#note(`the host: ${statement}`)
    this.#send('the host', statement, []).catch(() => {})
  }

  #timeOut(pick: number): void {
    const timer = chosen([...timers], pick)
    if (timer === undefined) return
    this.#note('a time limit ends')
    timers.delete(timer)
    timer()
  }

  // The following methods act as PostgreSQL.

  #send(from: string, text: string, values: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }> {
    return new Promise((resolve, reject) => {
      this.#statements.add({ from, text, values, resolve, reject })
    })
  }

  async #withOne(pick: number, isRunning: boolean, act: (statement: Statement) => Promise<void> | void): Promise<void> {
    const choices = [...this.#statements].filter(({ transaction }) => (transaction !== undefined) === isRunning)
    const statement = chosen(choices, pick)
    if (statement !== undefined) await act(statement)
  }

  async #start(statement: Statement, through: boolean): Promise<void> {
    const { text, values, from } = statement
    if (statement.isDead) return this.#disconnect(statement)
    const transaction = await this.#engine.run(text, values)
    if (transaction === undefined) return
    if (transaction.failure) {
      this.#engine.rollBack(transaction)
      this.#note(`PostgreSQL refuses ${describe(statement)} of ${from}: ${transaction.failure.message}`)
      return this.#reject(
        statement,
        Object.assign(new Error(transaction.failure.message), { code: transaction.failure.code }),
      )
    }
    statement.transaction = transaction
    const isRead = transaction.added.length + transaction.removed.length === 0
    const isSlow = transaction.waits && this.#schedule.slowDisk
    if (isRead || (through && !isSlow)) return this.#commit(statement, true)
    this.#note(`PostgreSQL runs ${describe(statement)} of ${from}, up to its commit`)
  }

  async #commit(statement: Statement, isAnswered: boolean): Promise<void> {
    const { transaction, from, text } = statement
    if (transaction === undefined) return
    this.#engine.commit(transaction)
    this.#statements.delete(statement)
    const end = `${transaction.waits ? ', on disk' : ''}${isAnswered ? '' : '; the answer is lost'}`
    if (!text.startsWith('DELETE')) this.#note(`PostgreSQL commits ${describe(statement)} of ${from}${end}`)
    if (text.startsWith('TRUNCATE')) this.#rules.truncated()
    if (text.startsWith('INSERT')) this.#rules.imported(idsOf(transaction.added))
    await this.#observe()
    if (isAnswered) statement.resolve({ rows: transaction.rows })
    else statement.reject(new Error('Connection terminated unexpectedly'))
  }

  #refuse(statement: Statement): void {
    this.#note(`PostgreSQL gives up ${describe(statement)} of ${statement.from}: it waited too long for a lock`)
    if (statement.transaction !== undefined) this.#engine.rollBack(statement.transaction)
    this.#reject(statement, Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }))
  }

  #reject(statement: Statement, error: Error): void {
    this.#statements.delete(statement)
    statement.reject(error)
  }

  async #crash(further: number, hangs: boolean): Promise<void> {
    this.#note('PostgreSQL crashes and restarts')
    this.#engine.crash(further)
    await this.#observe()
    for (const statement of this.#statements) {
      statement.transaction = undefined
      statement.isDead = true
      if (!hangs) this.#disconnect(statement)
    }
  }

  #disconnect(statement: Statement): void {
    this.#note(`${statement.from} loses the connection of ${describe(statement)}`)
    this.#reject(statement, new Error('Connection terminated unexpectedly'))
  }

  async #observe(): Promise<void> {
    const readable = readableOf(await this.#reader.list({ limit: 1_000 }))
    this.#rules.observe(readable, new Set(idsOf(this.#engine.onDisk.rows)))
  }

  /** Waits some turns of the event loop, until all processes wait for PostgreSQL: `inBatches` sends at the end of a turn. */
  async #settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
    // No schedule has steps for the statements that delete old rows: run them now.
    for (const statement of this.#statements)
      if (statement.text.startsWith('DELETE')) await this.#start(statement, true)
    if (this.broken !== undefined) throw this.broken
  }

  #note(line: string): void {
    this.trace.push(line)
  }
}

function chosen<T>(choices: readonly T[], pick: number): T | undefined {
  return choices[pick % choices.length]
}

function idsOf(rows: Iterable<string>): readonly bigint[] {
  return [...rows].flatMap((row) => /^pets \{"id": (\d+)/.exec(row)?.[1] ?? []).map(BigInt)
}

function describe({ text, values }: Statement): string {
  const [, name] = /"petstore"\.(\w+)\(/.exec(text) ?? []
  if (name === 'save') return `save(up to ${values[1]})`
  if (name !== undefined)
    return `${name}(${JSON.parse(String(values[0]))
      .map(([pet]: readonly [string]) => JSON.stringify(pet))
      .join(', ')})`
  return text.startsWith('SELECT') ? 'a read' : (text.split(' ', 1)[0] as string)
}
