import { closeSync, existsSync, fsyncSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { innermostMessage } from '../../src/support/describe-value.ts'
import { connectTo, requireFile } from './engines/sqlite-file.ts'
import { printable } from './terminal/output.ts'

/**
 * Runs `petstore backup`, also while a server uses the file. `VACUUM INTO` copies one state of the
 * file. The backup API of SQLite would start again at each write of another process, and a server
 * writes a count for each request.
 */
export async function runBackup(copy: string, { data }: { readonly data?: string }): Promise<void> {
  if (data === undefined) throw new Error('give --data <file>, the SQLite file to copy; for PostgreSQL, use pg_dump')
  requireFile(data)
  if (!existsSync(dirname(copy))) throw new Error(`there is no folder ${dirname(copy)}`)
  // `lstatSync` also finds a symbolic link without a target; `existsSync` does not.
  if (lstatSync(copy, { throwIfNoEntry: false })) throw new Error(`${copy} exists already: give the name of a new file`)
  const database = await connectTo(data)
  // An interrupted copy keeps this name, so that nobody uses it as a backup.
  const draft = `${copy}.partial`
  if (lstatSync(draft, { throwIfNoEntry: false })) {
    database.close()
    throw new Error(
      `${draft} exists already, from a backup that was interrupted or still runs: remove it, or give another name`,
    )
  }
  try {
    database.exec('PRAGMA busy_timeout = 5000')
    const tables = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'petstore_pets'").all()
    if (tables.length === 0) throw new Error(`${data} contains no pet store`)
    database.exec(`VACUUM INTO '${draft.replaceAll("'", "''")}'`)
    // SQLite does not wait until the copy is on disk.
    const file = openSync(draft, 'r+')
    fsyncSync(file)
    closeSync(file)
    renameSync(draft, copy)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new Error(`cannot copy ${data} to ${copy}: ${innermostMessage(error)}`)
  } finally {
    database.close()
  }
  console.log(printable(`Copied ${data} to ${copy}.`))
}
