import { isLoopback } from '../page/visitor.ts'
import type { ServeFlags } from '../terminal/flags.ts'
import { flagOf } from '../terminal/output.ts'

export const DEFAULT_CONTROL_HOST = '127.0.0.1'

/**
 * Throws if the flags of the control API lack its port. Also throws if other machines can reach a
 * control API whose secret was given: people choose secrets that can be guessed.
 */
export function checkControl(flags: ServeFlags): void {
  const { controlPort, controlHost = DEFAULT_CONTROL_HOST, controlSecret, insecureControl } = flags
  const given = (['controlHost', 'controlSecret'] as const).find((name) => flags[name] !== undefined)
  if (given !== undefined && controlPort === undefined)
    throw new Error(`${flagOf(given)}: expected --control-port too, got none; add --control-port 3001`)
  if (controlSecret !== undefined && !insecureControl && !isLoopback(controlHost))
    throw new Error(
      '--control-secret: expected a loopback --control-host such as 127.0.0.1, got another address; --insecure-control allows ' +
        '--control-secret with any --control-host',
    )
}
