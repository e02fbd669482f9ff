import { accessSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../../../conformance/sqlite/open.ts'

vi.mock('node:fs', async (importOriginal) => ({ ...(await importOriginal<object>()), accessSync: vi.fn() }))
// Another test file of this worker may have loaded the module without the mock.
vi.resetModules()
const { openSqliteFile } = await import('../../../../adapters/cli/engines/sqlite-file.ts')

test('the error names the folder in which the user may not write', async () => {
  const { folder, remove } = temporaryFolder()
  onTestFinished(() => void remove())
  const path = join(folder, 'pets.db')
  const message = `cannot use ${path}: you have no permission to write in the folder ${folder}, where SQLite keeps its log`
  const deny = () =>
    vi.mocked(accessSync).mockImplementationOnce(() => {
      throw Object.assign(new Error('permission denied'), { code: 'EACCES' })
    })
  deny()
  await expect(openSqliteFile(path)).rejects.toThrow(message)
  writeFileSync(path, '')
  deny()
  await expect(openSqliteFile(path)).rejects.toThrow(message)

  // If the -wal file exists already, SQLite does not need to create a file in the folder.
  writeFileSync(`${path}-wal`, '')
  deny()
  await (await openSqliteFile(path)).close()
})
