/** The module `fast-check`, an optional peer dependency. */
export type FastCheck = typeof import('fast-check')

const NOT_FOUND = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']

/** Returns the `fast-check` that the runner has given, or imports it. The import is dynamic, so that only the suites need it. */
export async function fastCheckOf(fc: object | undefined): Promise<FastCheck> {
  // The public type is `object`, because type declarations must not need an optional package.
  if (fc) return fc as FastCheck
  try {
    return await import('fast-check')
  } catch (cause) {
    if (!NOT_FOUND.includes((cause as { code?: string }).code ?? '')) throw cause
    throw new Error('the contract suites need the package fast-check: npm install --save-dev fast-check', { cause })
  }
}
