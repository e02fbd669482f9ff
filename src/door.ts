/** What adapters need of the core beside its public names. */
export { type ErrorCode, errorTable, isPetStoreError } from './errors.ts'
export { FetchRequest, tooLarge } from './exchange.ts'
export { keyCacheRule } from './key-cache.ts'
export { checkAgainst, clockRule, invalidOption, millisecondsRule, type OptionRules } from './options.ts'
export { errorReply } from './reply.ts'
export { systemClock } from './system-clock.ts'
export { isBelow, originForm, pathOf } from './target.ts'
