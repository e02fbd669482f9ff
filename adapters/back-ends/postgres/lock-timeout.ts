/**
 * SQL that sets the lock timeout inside a function to the parameter `lock_wait`, in milliseconds. The function must be created
 * with `SET lock_timeout = 0`: PostgreSQL then restores the old setting when the function ends, even inside a longer transaction.
 */
export const withLockTimeout = `PERFORM set_config('lock_timeout', lock_wait::text, true);`
