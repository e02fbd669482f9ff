import type { Clock } from '../../../src/index.ts'
import { keyStoreContract, quotaContract, storageContract, type TestRunner } from '../../../src/testing/index.ts'
import { type OpenFile, openBackEnd } from './open.ts'

/** Runs the three contract suites on one SQLite driver. Passes `runs` and `commands` to the suites. */
export function sqliteContracts(
  runner: TestRunner,
  name: string,
  openFile: OpenFile,
  scale: { runs?: number; commands?: number } = {},
): void {
  const opening =
    <Name extends 'storage' | 'keyStore' | 'quota'>(port: Name, keyCache?: false) =>
    async (clock?: Clock) => {
      const { close, ...backEnd } = openBackEnd(openFile, { clock, keyCache })
      return { port: backEnd[port], close }
    }
  storageContract(runner, { name, open: opening('storage'), ...scale })
  keyStoreContract(runner, { name, open: opening('keyStore'), ...scale })
  keyStoreContract(runner, { name: `${name}, without a cache`, open: opening('keyStore', false), ...scale })
  quotaContract(runner, { name, open: opening('quota'), ...scale })
}
