/** fast-check, which is loaded only when a suite runs: whoever wants no suite need not install it. */
export type FastCheck = typeof import('fast-check')

const NOT_FOUND = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']

/** Bundlers take a missing package for optional where its absence is caught. */
export async function loadFastCheck(): Promise<FastCheck> {
  try {
    return await import('fast-check')
  } catch (cause) {
    if (!NOT_FOUND.includes((cause as { code?: string }).code ?? '')) throw cause
    throw new Error('the contract suites need the package fast-check: npm install --save-dev fast-check', { cause })
  }
}
