/**
 * Sets the lock timeout inside a function with the parameter `lock_wait`, in milliseconds. The function needs the clause
 * `SET lock_timeout = 0`, which ends the setting with the function, even in a transaction of the host.
 */
export const withLockTimeout = `PERFORM set_config('lock_timeout', lock_wait::text, true);`
