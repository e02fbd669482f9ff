/** fast-check, which is loaded only when a suite runs: whoever wants no suite need not install it. */
export type FastCheck = typeof import('fast-check')

/** Bundlers take a missing package for optional where its absence is caught. */
export async function loadFastCheck(): Promise<FastCheck> {
  try {
    return await import('fast-check')
  } catch (cause) {
    throw new Error('the contract suites need the package fast-check: npm install --save-dev fast-check', { cause })
  }
}
