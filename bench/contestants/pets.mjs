import { PETS, pet } from './fixtures.mjs'

/** The storage of all other servers: an array, as in their tutorials. Ids are positions, so a page needs no search. */
export function petArray() {
  const pets = Array.from({ length: PETS }, (_, i) => ({ id: i + 1, ...pet(i) }))
  return {
    /** Returns a page after the id `cursor`, and the link to the next page if there is one. */
    list({ limit = 20, status, cursor = 0 }) {
      const page = []
      let position = cursor
      for (; position < pets.length && page.length < limit; position++) {
        if (status === undefined || pets[position].status === status) page.push(pets[position])
      }
      if (position >= pets.length) return { page }
      const filter = status === undefined ? '' : `&status=${status}`
      return { page, link: `</v1/pets?limit=${limit}${filter}&cursor=${position}>; rel="next"` }
    },
    create(newPet) {
      const created = { id: pets.length + 1, ...newPet }
      pets.push(created)
      return created
    },
    get: (id) => pets[id - 1],
  }
}

/** The body of an error response. */
export const errorBody = (status, code, message) => ({ code, message, status })
