import * as z from 'zod/mini'
import { isUrl } from '../support/text.ts'
import { expecting } from './expected.ts'

/** Returns whether a text is an origin as browsers send it, but not `null`. */
export function isOrigin(text: string): boolean {
  return isUrl(text) && text === originOf(new URL(text))
}

/** `URL.origin` cannot be used: it is "null" for browser extensions. */
function originOf({ protocol, host }: URL): string {
  return `${protocol}//${host}`
}

/** An origin that may have one `*` in each label of its host, except the last two. */
export const originPattern = z
  .string(expectingOrigin())
  .check(
    z.refine(isPattern, { ...expectingOrigin(), abort: true }),
    z.refine(
      isNarrow,
      expecting(
        'an origin without "*" in its last two labels, such as "https://*.shop.example", because others own names there',
      ),
    ),
  )

function expectingOrigin() {
  return expecting('an origin such as "https://shop.example", in lower case and without a trailing slash')
}

/** Returns whether a text is an origin once each `*` is a letter. Only the host may have `*`. */
function isPattern(text: string): boolean {
  const [scheme = '', host = ''] = text.split('://', 2)
  const isHostOnly = !scheme.includes('*') && host.split('.').every((label) => label.split('*').length <= 2)
  return isHostOnly && isOrigin(text.replaceAll('*', 'a'))
}

/** Returns whether the last two labels of the host, such as `shop.example`, have no `*`. */
function isNarrow(text: string): boolean {
  if (!text.includes('*')) return true
  const host = text.replace(/^[^:]*:\/\//, '').replace(/:\d+$/, '')
  const labels = host.split('.')
  return labels.length > 2 && labels.slice(-2).every((label) => label !== '' && !label.includes('*'))
}
