import { describeValue } from '../support/describe-value.ts'
import { type ApiRequest, listMembers } from './request.ts'
import { errorResponse, type OwnResponse } from './response.ts'

const JSON_TYPE = 'application/json'

/**
 * Returns a 415 unless a body is JSON in UTF-8 without compression (RFC 9110, sections 8.3, 8.4 and
 * 15.5.16).
 */
export function mediaTypeError(request: Pick<ApiRequest, 'header'>): OwnResponse | undefined {
  const type = request.header('content-type')
  if (type === undefined || !isJsonInUtf8(type)) return unsupported(['Accept', JSON_TYPE], JSON_TYPE, type)
  const coding = request.header('content-encoding')
  if (coding === undefined || listMembers(coding).every((member) => member.toLowerCase() === 'identity'))
    return undefined
  return unsupported(['Accept-Encoding', 'identity'], 'no Content-Encoding', coding)
}

/** The longest `Content-Type` that is accepted, in characters. */
const MAX_LENGTH = 256

/**
 * Matches one parameter, which may be empty: `; charset="utf-8"` (RFC 9110, section 5.6.6). Its
 * name and value are captured. The flag `y` lets no other text stand between two parameters.
 */
const PARAMETER = /[ \t]*;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=([\w!#$%&'*+.^`|~-]+|"(?:[^"\\]|\\.)*"))?/gy

/**
 * Ignores parameters other than `charset`: recipients ignore parameters that they do not know (RFC
 * 2045, section 1), and JSON has none (RFC 8259, section 11). Rejects a `charset` other than UTF-8,
 * because the text would be read wrongly.
 */
function isJsonInUtf8(contentType: string): boolean {
  if (contentType.length > MAX_LENGTH) return false
  // Not `trim`, which also removes a no-break space and a byte order mark.
  const text = contentType.replace(/^[ \t]+/, '')
  if (text.slice(0, JSON_TYPE.length).toLowerCase() !== JSON_TYPE) return false
  const rest = text.slice(JSON_TYPE.length)
  // Most clients send no parameters. To look for some would add a tenth to the CPU time of a create.
  if (rest === '') return true
  const parameters = [...rest.matchAll(PARAMETER)]
  const read = parameters.map(([whole]) => whole).join('')
  const isValid = /^[ \t]*$/.test(rest.slice(read.length))
  return isValid && parameters.every(([, name, value]) => name?.toLowerCase() !== 'charset' || isUtf8(value as string))
}

/** The labels of UTF-8 (Encoding standard, section 4.2). */
const UTF8_LABELS = ['utf-8', 'utf8', 'unicode-1-1-utf-8', 'unicode11utf8', 'unicode20utf8', 'x-unicode20utf8']

function isUtf8(charset: string): boolean {
  const label = charset.replaceAll(/\\(.)|"/g, '$1')
  return UTF8_LABELS.includes(label.toLowerCase())
}

function unsupported(accepted: readonly string[], expected: string, received: string | undefined): OwnResponse {
  const reason = `expected ${expected}, got ${describeValue(received)}`
  return errorResponse('unsupported_media_type', accepted, `The body must be application/json in UTF-8: ${reason}.`)
}
