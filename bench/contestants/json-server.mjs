import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import jsonServer from 'json-server'
import { PETS, pet, ready } from './fixtures.mjs'

// Set up like the command `json-server`: each create writes the whole file of animals. It has no keys, limits or validation.
const folder = mkdtempSync(join(tmpdir(), 'petstore-kit-bench-'))
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    rmSync(folder, { recursive: true })
    process.exit()
  })
}
const file = join(folder, 'db.json')
writeFileSync(file, JSON.stringify({ pets: Array.from({ length: PETS }, (_, i) => ({ id: i + 1, ...pet(i) })) }))

const app = jsonServer.create()
app.use(jsonServer.defaults({ logger: false }))
app.use('/v1', jsonServer.router(file))
const server = app.listen(0, '127.0.0.1', () => ready(server.address().port))
