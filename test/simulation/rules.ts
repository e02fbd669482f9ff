import type { Pet } from '../../src/index.ts'

// The rules for creates. They are checked against the responses that clients received and the animals that they could read.

/** What clients can read at one moment: the animals by id, as text. */
export type Readable = ReadonlyMap<bigint, string>

export class BrokenRule extends Error {
  readonly rule: string
  readonly expected: string
  readonly received: string
  constructor(rule: string, expected: string, received: string) {
    super(`${rule}\n  expected: ${expected}\n  received: ${received}`)
    this.rule = rule
    this.expected = expected
    this.received = received
  }
}

export class Rules {
  /** What clients could read after each step of the simulation. */
  readonly history: Readable[] = [new Map()]
  /** Grows with each TRUNCATE. A 201 for an earlier request is not checked, because its animal may be gone. */
  era = 0
  /** The animals that clients received with a 201, and the imported animals. */
  #acknowledged = new Map<bigint, string>()
  #idOfKey = new Map<string, bigint>()

  get readable(): Readable {
    return this.history.at(-1) as Readable
  }

  truncated(): void {
    this.era++
    this.#acknowledged = new Map()
    this.#idOfKey = new Map()
    this.history.push(new Map())
  }

  /** The next `observe` must find these animals, which the host has imported. */
  imported(ids: readonly bigint[]): void {
    for (const id of ids) this.#acknowledged.set(id, textOf(IMPORTED))
  }

  /** Checks what clients can read now. */
  observe(readable: Readable, onDisk: ReadonlySet<bigint>): void {
    const before = this.readable
    this.history.push(readable)
    for (const [id, text] of readable)
      if (!onDisk.has(id))
        fail('No crash takes back an animal that was read', `only animals on disk in lists`, `${id} ${text}`)
    for (const [id, text] of [...before, ...this.#acknowledged])
      if (readable.get(id) !== text) {
        const rule = this.#acknowledged.has(id)
          ? 'An animal answered with 201, or imported, can be read from then on'
          : 'An animal that was read can be read from then on'
        fail(rule, `${id} ${text} in each list`, listed(readable))
      }
    const greatest = [...before.keys()].at(-1) ?? 0n
    for (const [id, text] of readable)
      if (!before.has(id) && id < greatest)
        fail('Ids become visible in ascending order', `no new animal below ${greatest}`, `${id} ${text}`)
    const keys = [...readable.values()].flatMap((text) => /key \d/.exec(text) ?? [])
    for (const key of keys)
      if (keys.filter((other) => other === key).length > 1) fail(ONE_ANIMAL, `one animal of ${key}`, listed(readable))
  }

  /** Checks an animal that a client received with a 201. */
  acknowledge(pet: Pet, key: string | undefined): void {
    if (key !== undefined) {
      const first = this.#idOfKey.get(key) ?? pet.id
      this.#idOfKey.set(key, first)
      if (first !== pet.id) fail(ONE_ANIMAL, `id ${first} for each request with ${key}`, `id ${pet.id}`)
    }
    this.#acknowledged.set(pet.id, textOf(pet))
    if (this.readable.get(pet.id) !== textOf(pet))
      fail(
        'An animal answered with 201 can be read from then on',
        `${pet.id} ${textOf(pet)} in each list`,
        listed(this.readable),
      )
  }

  /** Checks that the response to a read shows what could be read at some time between the request and the response. */
  answered(what: string, since: number, pets: readonly Pet[], select: (readable: Readable) => Readable): void {
    const received = listed(readableOf(pets))
    const possible = this.history.slice(since).map((readable) => listed(select(readable)))
    if (!possible.includes(received))
      fail(`A ${what} shows what clients can read, and no more`, [...new Set(possible)].join(', or '), received)
  }
}

/** The animal that the host inserts in each simulated import. */
export const IMPORTED = { name: 'imported', status: 'sold' } as const
const ONE_ANIMAL = 'One key adds one animal'

function fail(rule: string, expected: string, received: string): never {
  throw new BrokenRule(rule, expected, received)
}

export function readableOf(pets: readonly Pet[]): Readable {
  return new Map(pets.map((pet) => [pet.id, textOf(pet)]))
}

function textOf({ name, status }: Pick<Pet, 'name' | 'status'>): string {
  return `"${name}"${status === undefined ? '' : `, ${status}`}`
}

function listed(readable: Readable): string {
  return [...readable].map(([id, text]) => `${id} ${text}`).join('; ') || 'no animal'
}
