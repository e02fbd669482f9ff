/**
 * Fills the write-ahead log of a SQLite file up to the limit of the process for file sizes, while a reader keeps the log.
 * Then ends the reader, and adds animals until one is added. Prints how many animals the file has, and how many were added.
 */
import Database from 'libsql'
import { sqlite } from 'petstore-kit/sqlite'

const [path] = process.argv.slice(2)
const { storage } = sqlite(new Database(path))
const reader = new Database(path)
const codes = new Set()
let added = 0

async function add() {
  try {
    await storage.create({ name: 'x'.repeat(1_000), categoryId: 1n, status: 'sold' })
    added += 1
  } catch ({ code }) {
    codes.add(code)
  }
}

await add()
reader.exec('BEGIN')
reader.prepare('SELECT count(*) FROM petstore_pets').all()
while (codes.size === 0) await add()
for (let i = 0; i < 9; i++) await add()
reader.exec('ROLLBACK')
const before = added
while (added === before) await add()
const [{ stored }] = reader.prepare('SELECT count(*) AS stored FROM petstore_pets').all()
console.log(JSON.stringify({ codes: [...codes], stored, added }))
