/**
 * A statement of a function that has the parameter `lock_wait`, in milliseconds, and the clause `SET lock_timeout = 0`. Because of
 * the clause, the setting ends with the function, also in a transaction of the host.
 */
export const withLockTimeout = `PERFORM set_config('lock_timeout', lock_wait::text, true);`
