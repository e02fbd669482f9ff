/** What adapters need of the core beside its public names. */
export { type ErrorCode, errorTable, isPetStoreError } from './errors.ts'
export { FetchRequest, tooLarge } from './http/request.ts'
export { keyCacheRule } from './keys/key-cache.ts'
export { checkAgainst, clockRule, invalidOption, millisecondsRule, type OptionRules } from './options.ts'
export { errorReply } from './http/response.ts'
export { systemClock } from './support/system-clock.ts'
export { isBelow, originForm, pathOf } from './http/request-target.ts'
