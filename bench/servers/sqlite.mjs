import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { createPetStore } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'
import { sqlite } from 'petstore-kit/sqlite'
import { fill, LIMITS, listening, writeResponse } from '../fixtures.mjs'

const folder = mkdtempSync(join(tmpdir(), 'petstore-kit-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const database = new Database(join(folder, 'pets.db'))
const backEnd = sqlite(database)
await fill(backEnd.storage)
const { token } = await backEnd.keyStore.issue({ plan: 'enterprise', limits: LIMITS })

/** Reads the page that the store also reads, but with the SQLite driver only, for comparison. */
const page = database.prepare(
  'SELECT id, name, category_id AS categoryId, status FROM petstore_pets ORDER BY id LIMIT ?',
)
const bare = (_req, res) => writeResponse(res, 200, JSON.stringify(page.all(21).slice(0, 20)))

/** The store under test, with animals, keys and counts in one SQLite file. */
const kit = toNodeHandler(createPetStore(backEnd))
listening(createServer(process.argv[2] === 'bare' ? bare : kit), token)
