import * as z from 'zod/mini'
import { expecting } from './expected.ts'
import { listOf } from './options.ts'

export const planNames = listOf(z.string(expecting('the name of a plan')), 'a list of the names of plans')
