import Libsql from 'libsql'
import { describe, test } from 'vitest'
import { sqliteContracts } from './contracts.ts'
import { sqliteFaults } from './faults.ts'

sqliteContracts({ describe, test }, 'libsql', (path) => new Libsql(path))
sqliteFaults({ describe, test }, 'libsql', (path) => new Libsql(path))
