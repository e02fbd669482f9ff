import { defineHandler } from 'nitro/h3'
import { backEnd } from '../lib/pet-store'

export default defineHandler(async () => {
  const pets = await backEnd.storage.list({ limit: 3 })
  return `The shop itself has ${pets.map(({ name }) => name).join(', ')}`
})
