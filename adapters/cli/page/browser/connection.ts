import type { Settings } from '../routes.ts'
import { byId, setText } from './dom.ts'
import { hasSecret, secretHeader } from './session.ts'

/** How often the settings are loaded, in milliseconds. */
const EVERY = 1_000
/** How long the server may take to send its settings, in milliseconds. */
const TIMEOUT = 5_000

export interface ConnectionListener {
  /** Called with each response. `isBack` is true for the first response after an outage. */
  onSettings(settings: Settings, isBack: boolean): void
  onLost(): void
  /** Returns whether the last request to the API got no response. */
  isSilent(): boolean
}

/** Loads the settings and new entries of the log every second, and shows whether the server responds. */
export class Connection {
  readonly #listener: ConnectionListener
  #lastEntry = 0
  #isLost = false
  #isLoading = false
  #isWanted = false

  constructor(listener: ConnectionListener) {
    this.#listener = listener
    setInterval(() => {
      if (!document.hidden) void this.refresh()
    }, EVERY)
    document.addEventListener('visibilitychange', () => void this.refresh())
    void this.refresh()
  }

  /** Loads now. A load in progress may lack the latest entry, so another load follows it. */
  async refresh(): Promise<void> {
    this.#isWanted = true
    if (this.#isLoading) return
    this.#isLoading = true
    while (this.#isWanted) {
      this.#isWanted = false
      await this.#load()
    }
    this.#isLoading = false
  }

  async #load(): Promise<void> {
    let settings: Settings
    try {
      settings = await loadSettings(this.#lastEntry)
    } catch {
      this.#show('bad', 'Reconnecting: the server does not respond. This page tries again every second.')
      if (!this.#isLost) this.#listener.onLost()
      this.#isLost = true
      return
    }
    const isBack = this.#isLost
    this.#isLost = false
    this.#lastEntry = settings.entries.at(-1)?.id ?? this.#lastEntry
    if (!settings.hasSecret && hasSecret())
      this.#show('bad', 'Connected, but the server was started again. Open the new address that it has printed.')
    else if (this.#listener.isSilent()) this.#show('bad', 'Not connected: the last request to the API got no response.')
    else this.#show('good', 'Connected')
    this.#listener.onSettings(settings, isBack)
  }

  #show(kind: 'good' | 'bad', text: string): void {
    const line = byId('connection')
    line.className = `muted ${kind}`
    setText(line, text)
  }
}

/** @param after - the id of the last entry that the page knows */
async function loadSettings(after: number): Promise<Settings> {
  const signal = AbortSignal.timeout(TIMEOUT)
  const response = await fetch(`/page/settings.json?after=${after}`, { headers: secretHeader(), signal })
  if (!response.ok) throw new Error(`expected settings, got status ${response.status}`)
  return response.json()
}
