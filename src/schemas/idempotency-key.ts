/** Matches an idempotency key: visible ASCII characters and spaces. */
export const IDEMPOTENCY_KEY = /^[ -~]{1,255}$/

export const KEY_EXPECTED = '1 to 255 visible ASCII characters or spaces'

/**
 * Matches the header with a key: a quoted string without parameters (RFC 9651, section 3.3.3), or
 * the bare key, as most clients do.
 */
export const IDEMPOTENCY_HEADER = /^(?:"(?:[ !#-[\]-~]|\\["\\]){1,255}"|[!#-~]{1,255})$/

export const HEADER_EXPECTED =
  '1 to 255 ASCII characters, either without spaces and double quotes or as a string in double quotes such as "8e03978e-40d5-43dd-bc93-6894a57f9324"'
