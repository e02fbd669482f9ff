import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { filledStore, importKit } from './fixtures.mjs'
import { serveKitOrDriver } from './kit-or-driver.mjs'

const { memory } = await importKit()
const { sqlite } = await importKit('sqlite')
const folder = mkdtempSync(join(tmpdir(), 'petstore-kit-bench-'))
const database = new Database(join(folder, 'pets.db'))
const backEnd = sqlite(database)
// Counts requests in memory, not in SQLite: petstore-kit is compared with the bare driver, which counts no requests.
const { petStore, tokens } = await filledStore({ ...backEnd, quota: memory().quota })

const page = database.prepare(
  'SELECT id, name, category_id AS categoryId, status FROM petstore_pets WHERE id > ? ORDER BY id LIMIT ?',
)
const add = database.prepare('INSERT INTO petstore_pets (name, category_id, status) VALUES (?, ?, ?) RETURNING id')
const driver = {
  list: () => page.all(0, 21).slice(0, 20),
  create: ({ name, categoryId, status }) => ({ ...add.get(name, categoryId, status), name, categoryId, status }),
}
const cleanUp = () => rmSync(folder, { recursive: true })
await serveKitOrDriver({ petStore, tokens, storage: backEnd.storage, driver, cleanUp })
