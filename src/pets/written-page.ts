import type { Target } from '../http/request-target.ts'
import type { ApiResponse } from '../http/response.ts'
import { jsonReply } from '../http/response.ts'
import type { Pet } from '../model.ts'
import { isFixed } from '../support/is-fixed.ts'
import { unexpected, writePets } from './json.ts'
import type { LinkBase } from './link.ts'
import { nextQuery } from './pagination.ts'

const REMEMBERED_PAGES = 1_000
const LONGEST_BODY = 32_768

/** A page of animals as text. */
class WrittenPage {
  readonly pets: readonly Pet[]
  readonly body: string
  #target: Target | undefined
  #reply: ApiResponse | undefined

  constructor(pets: readonly Pet[]) {
    this.pets = pets
    this.body = writePets(pets)
  }

  /** The answer, with a Link to the page that follows (RFC 8288), to a client that asked for this one with `target`. */
  reply(target: Target, linkBase: LinkBase): ApiResponse {
    if (this.#target === target) return this.#reply as ApiResponse
    const query = nextQuery(target.query, (this.pets.at(-1) as Pet).id)
    const link = `<${linkBase(target)}${target.route}?${query}>; rel="next"`
    const reply = jsonReply(200, this.body, ['Link', link])
    if (target.isRemembered) {
      this.#target = target
      this.#reply = reply
    }
    return reply
  }
}

/** Writes the first of the animals that were found, up to a count. */
export type PageWriter = (found: readonly Pet[], limit: number) => WrittenPage

/**
 * Makes a writer of pages, which remembers the text of a page of animals that cannot change: from memory, a page
 * that is asked for again costs a look at each animal.
 */
export function pageWriter(): PageWriter {
  let pages = new WeakMap<Pet, WrittenPage>()
  let remembered = 0

  return (found, limit) => {
    if (!Array.isArray(found)) throw unexpected('an array', found)
    const count = Math.min(found.length, limit)
    const last = found[count - 1] as Pet
    const known = pages.get(last)
    if (known !== undefined && isSame(known.pets, found, count)) return known
    const page = new WrittenPage(found.slice(0, count))
    if (count > 0 && page.body.length <= LONGEST_BODY && page.pets.every(isFixed)) {
      if (known === undefined && ++remembered > REMEMBERED_PAGES) {
        pages = new WeakMap()
        remembered = 1
      }
      pages.set(last, page)
    }
    return page
  }
}

function isSame(known: readonly Pet[], found: readonly Pet[], count: number): boolean {
  if (known.length !== count) return false
  for (let i = 0; i < count; i++) if (known[i] !== found[i]) return false
  return true
}
