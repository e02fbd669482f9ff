import { Pool } from 'pg'

/**
 * Opens a pool of connections to PostgreSQL. `end()` of a pool resolves before its connections are closed: if the server stops at that
 * moment, they emit an error, and without a listener, the error would end the process.
 */
export function openPool(config) {
  const pool = new Pool(config)
  pool.on('error', () => {})
  return pool
}
