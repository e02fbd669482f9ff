import type { DocumentedOptions } from '../documented-options.ts'
import type { QuotaRules } from '../quota/rate-limit.ts'
import { errorRows } from './error-responses.ts'

/** Returns the description of the whole API, in Markdown. */
export function describeApi(options: DocumentedOptions): string {
  const { plans, ban } = options.quotaRules
  return `A catalogue of animals offered in a store.

Every request needs an API key as a bearer token. Ids are 64-bit integers: use a JSON reader that keeps all of their digits.

## Pages

\`GET /pets\` returns one page. The next page is in \`Link\` with \`rel="next"\`; \`X-Next-Cursor\` holds the value of the
parameter \`cursor\` for it. The last page has neither header. Mock servers may send both with an empty value instead.

## Limits

Requests are counted per API key, in windows of one UTC minute and one UTC day. Keys of the same account share their limits,
refusals and bans.

| Plan | Requests per minute | Requests per day |
| --- | --- | --- |
${planRows(plans)}

Keys of other plans, such as Enterprise, have limits of their own. Every response states the limit in \`X-RateLimit-Limit\`,
\`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. Over the limit, the response is 429; wait as long as \`Retry-After\` says, and use
exponential backoff if requests keep failing.${banText(ban)}

## Methods

\`HEAD\` responds like \`GET\`, without the body. \`OPTIONS\` responds with 204 and \`Allow\`, the methods of the path. Another method
gets 405 with \`Allow\`, and an unknown path gets 404.${corsText(options.cors)}

## Errors

Every error has the members \`code\`, \`message\` and \`status\`. Later versions may add codes:

| Status | Code | Meaning |
| --- | --- | --- |
${errorRows(options)}`
}

/**
 * Returns the plans as rows of a Markdown table. Escapes their names, which may have any
 * characters.
 */
function planRows(plans: QuotaRules['plans']): string {
  const escaped = (text: string) => text.replaceAll(/[\\`*_{}[\]<>#|&]/g, '\\$&').replaceAll(/\s+/g, ' ')
  return Object.entries(plans)
    .map(([plan, { perMinute, perDay }]) => `| ${escaped(plan)} | ${grouped(perMinute)} | ${grouped(perDay)} |`)
    .join('\n')
}

function banText(ban: QuotaRules['ban']): string {
  if (!ban) return ''
  const refusals = ban.afterRefusals === undefined ? 'its limit per minute' : grouped(ban.afterRefusals)
  return ` When the number of refused requests of a key within one minute reaches ${refusals}, the key is banned for
${grouped(ban.seconds)} seconds. Requests during a ban do not lengthen it.`
}

function corsText(cors: DocumentedOptions['cors']): string {
  if (!cors) return ''
  const origins = cors.origins === '*' ? 'any origin' : 'certain other origins'
  return ` Web pages of ${origins} may send requests. Their preflights
need no key and are not counted.`
}

export function grouped(count: number): string {
  return count.toLocaleString('en')
}
