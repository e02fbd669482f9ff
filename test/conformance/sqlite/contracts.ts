import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import type { Clock } from '../../../src/index.ts'
import { keyStoreContract, quotaContract, storageContract, type TestRunner } from '../../../src/testing/index.ts'
import { type Connection, type OpenFile, openBackEnd } from './open.ts'

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
      const { close, path, ...backEnd } = openBackEnd(openFile, { clock, keyCache })
      const others: Connection[] = []
      return {
        port: backEnd[port],
        reopen() {
          const database = openFile(path)
          others.push(database)
          return sqlite(database, { clock, keyCache })[port]
        },
        async close() {
          for (const database of others) database.close()
          await close()
        },
      }
    }
  storageContract(runner, { name, open: opening('storage'), ...scale })
  keyStoreContract(runner, { name, open: opening('keyStore'), ...scale })
  keyStoreContract(runner, { name: `${name}, without a cache`, open: opening('keyStore', false), ...scale })
  quotaContract(runner, { name, open: opening('quota'), ...scale })
}
