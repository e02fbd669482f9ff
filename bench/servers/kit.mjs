import { createServer } from 'node:http'
import { createPetStore, memory } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'
import { LIMITS, listening, PETS, pet } from '../fixtures.mjs'

const backEnd = memory()
for (let i = 0; i < PETS; i++) await backEnd.storage.create({ ...pet(i), categoryId: BigInt(pet(i).categoryId) })
const { token } = await backEnd.keyStore.issue({ plan: 'enterprise', limits: LIMITS })
listening(createServer(toNodeHandler(createPetStore(backEnd))), token)
