import { backEnd } from '../lib/server/pet-store'

export async function load() {
  const pets = await backEnd.storage.list({ limit: 3 })
  return { names: pets.map(({ name }) => name) }
}
