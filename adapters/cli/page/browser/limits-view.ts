import type { RateLimit } from '../../../../src/model.ts'
import { MINUTE } from '../../../../src/support/time.ts'
import type { Api, Exchange } from './api.ts'
import { costOf, headerOf } from './cost.ts'
import { byId, onClick, setEnabled, setNote, setText } from './dom.ts'
import { refusalOf } from './explanation.ts'
import { plural } from './format.ts'
import { createGauge } from './gauge.ts'
import { type Refusal, showRefusal } from './refusal-view.ts'

/** How often the usage is loaded, in milliseconds: other programs may use the same key, too. */
const RELOAD_EVERY = 2_000

/** The limits of the key. Without the secret, the page knows only those of its own responses. */
interface KnownUsage {
  readonly plan?: string
  readonly minute?: RateLimit
  readonly day?: RateLimit
  readonly bannedUntil?: number | undefined
}

/** Shows both limits of the key, explains a 429 and a ban, and has buttons that provoke them. */
export class LimitsView {
  readonly #api: Api
  readonly #onServed: () => void
  readonly #minute = createGauge('Requests this minute', 'This minute')
  readonly #day = createGauge('Requests today', 'Today (UTC)')
  #usage: KnownUsage | undefined
  /** The server's time minus the browser's time, in milliseconds. */
  #clockOffset = 0
  #refusal: Refusal | undefined
  #isSending = false
  #isLoading = false
  #isLost = false

  /** @param onServed - called when the server accepts requests again after a 429 */
  constructor(api: Api, onServed: () => void) {
    this.#api = api
    this.#onServed = onServed
    byId('gauges').append(this.#minute.element, this.#day.element)
    onClick(byId('burst'), () => void this.#burst('rate_limit_exceeded'))
    onClick(byId('keep-sending'), () => void this.#burst('api_key_banned'))
    onClick(byId('stop'), () => {
      this.#isSending = false
    })
    setInterval(() => this.#render(), 250)
    setInterval(() => {
      if (!document.hidden) void this.reload()
    }, RELOAD_EVERY)
    this.#render()
  }

  /** If the server does not respond, the view shows no limits. */
  set isLost(isLost: boolean) {
    this.#isLost = isLost
    setNote(byId('burst-note'), '')
    this.#render()
  }

  /** Clears the view after a change of the key. */
  reset(): void {
    this.#isSending = false
    this.#usage = undefined
    this.#refusal = undefined
    setNote(byId('burst-note'), '')
    this.#render()
    void this.reload()
  }

  observe(exchange: Exchange): void {
    const { status } = exchange
    if (status === 429) {
      const endsAt = Date.now() + Number(headerOf(exchange, 'Retry-After')) * 1_000
      this.#refusal = { exchange, endsAt, kind: refusalOf(exchange.code, this.#api.isAccepted === false) }
    } else if (status < 400) {
      this.#refusal = undefined
      this.#usage = { ...this.#usage, ...usageIn(exchange) }
    }
    if (!this.#isSending) void this.reload()
  }

  async reload(): Promise<void> {
    if (this.#isLoading) return
    this.#isLoading = true
    const { key } = this.#api
    try {
      const usage = await this.#api.usage()
      if (key !== this.#api.key) return
      if (usage) {
        this.#usage = usage
        this.#clockOffset = usage.now - Date.now()
      } else if (usage === null && this.#refusal) this.#refusal = { ...this.#refusal, kind: 'address' }
      this.#render()
    } catch {
      // The server cannot be reached, which the page shows elsewhere.
    } finally {
      this.#isLoading = false
    }
  }

  /** Sends requests one after another until the server responds with the given error code. */
  async #burst(code: 'rate_limit_exceeded' | 'api_key_banned'): Promise<void> {
    const note = byId('burst-note')
    // Ends after a minute, because the count then begins again at zero.
    const endsAt = Date.now() + MINUTE
    let sent = 0
    let refused = 0
    const counts = () => `${plural(sent, 'request')} sent, ${refused} refused.`
    this.#isSending = true
    this.#render()
    try {
      while (this.#isSending) {
        const exchange = await this.#api.send('GET', '/pets?limit=1')
        sent++
        if (exchange.status === 429) refused++
        setNote(note, '', counts())
        if (exchange.code === code || exchange.code === 'api_key_banned' || exchange.status === 401) break
        if (Date.now() >= endsAt) {
          setNote(note, '', `${counts()} A minute has passed, so the count began again. Try the key of a smaller plan.`)
          break
        }
        if (sent % 20 === 0) await this.reload()
      }
    } catch {
      setNote(note, 'bad', `${counts()} Then the server did not respond.`)
    }
    this.#isSending = false
    await this.reload()
    this.#render()
  }

  #render(): void {
    if (this.#refusal !== undefined && Date.now() >= this.#refusal.endsAt && !this.#isSending) {
      this.#refusal = undefined
      setNote(byId('burst-note'), '')
      this.#onServed()
    }
    const usage = this.#isLost ? undefined : this.#usage
    const now = Date.now() + this.#clockOffset
    this.#minute.show(usage?.minute, now, usage?.bannedUntil)
    this.#day.show(usage?.day, now)
    byId('plan').hidden = usage?.plan === undefined
    setText(byId('plan'), `Plan ${usage?.plan}`)
    byId('limits-invalid').hidden = this.#api.isAccepted !== false
    showRefusal(this.#refusal)
    setEnabled(byId('burst'), !this.#isSending && this.#refusal === undefined && this.#api.key !== '')
    setEnabled(byId('keep-sending'), !this.#isSending && this.#refusal?.kind === 'key')
    setEnabled(byId('stop'), this.#isSending)
  }
}

/** Returns the limit in the headers, which describe the window with fewer remaining requests. */
function usageIn(exchange: Exchange): KnownUsage {
  const cost = costOf(exchange)
  if (cost === undefined) return {}
  return cost.resetsAt - Date.now() <= MINUTE ? { minute: cost } : { day: cost }
}
