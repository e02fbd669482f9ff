import { z } from 'zod'
import { STATUSES } from './fixtures.mjs'

/** The zod schemas of Hono and Express, which have no validation of their own. */
const status = z.enum(STATUSES)
export const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  status: status.optional(),
  cursor: z.coerce.number().int().min(0).default(0),
})
export const newPet = z.object({
  name: z.string().min(1).max(1000),
  categoryId: z.int(),
  status: status.default('available'),
})
export const petParams = z.object({ petId: z.coerce.number().int() })
