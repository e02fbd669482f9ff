import * as z from 'zod/mini'
import { expecting } from './expected.ts'

/**
 * The body of an error response. Keeps other members: a later version of the service may add some.
 */
export const errorBody = z.looseObject(
  {
    code: z.string(expecting('a code such as "pet_not_found"')),
    message: z.string(expecting('a message')),
    status: z.int(expecting('an HTTP status')),
  },
  expecting('an error with code, message and status'),
)
