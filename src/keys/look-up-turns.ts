import { addressGroup } from '../support/address-group.ts'

/** How many look-ups of one client address run at once; the others wait for their turn. */
const MAX_RUNNING = 4
/** The length of an IPv6 prefix, in bits. Addresses with the same prefix count as one address. */
const IPV6_PREFIX = 56

/** The look-ups of one client address. */
interface AddressTurns {
  running: number
  readonly waiting: (() => void)[]
}

/** Runs a look-up. If too many look-ups for the same client address are running, waits first. */
export type RunInTurn = <T>(clientAddress: string | undefined, lookUp: () => Promise<T>) => Promise<T>

/**
 * Returns a function that limits the running look-ups of each client address. A client that guesses tokens with valid checksums
 * then slows down only its own address, and a valid key from that address is still found.
 */
export function lookUpTurns(): RunInTurn {
  const byAddress = new Map<string, AddressTurns>()

  function release(address: string, turns: AddressTurns): void {
    turns.running--
    turns.waiting.shift()?.()
    if (turns.running === 0) byAddress.delete(address)
  }

  return async (clientAddress, lookUp) => {
    if (clientAddress === undefined) return lookUp()
    const address = addressGroup(clientAddress, IPV6_PREFIX)
    const turns = byAddress.get(address) ?? { running: 0, waiting: [] }
    byAddress.set(address, turns)
    if (turns.running >= MAX_RUNNING) await new Promise<void>((resolve) => turns.waiting.push(resolve))
    turns.running++
    try {
      return await lookUp()
    } finally {
      release(address, turns)
    }
  }
}
