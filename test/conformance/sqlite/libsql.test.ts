import Libsql from 'libsql'
import { describe, test } from 'vitest'
import { sqliteContracts } from './contracts.ts'
import { sqliteDriverTests } from './driver-tests.ts'

sqliteContracts({ describe, test }, 'libsql', (path) => new Libsql(path))
sqliteDriverTests({ describe, test }, 'libsql', (path) => new Libsql(path))
