import type { RateLimit } from '../../../../src/model.ts'
import { MINUTE } from '../../../../src/support/time.ts'
import type { Api, Exchange } from './api.ts'
import { costOf, headerOf } from './cost.ts'
import { byId, setEnabled, setNote, setText } from './dom.ts'
import { refusalOf } from './explanation.ts'
import { plural } from './format.ts'
import { createGauge } from './gauge.ts'
import { type Refusal, showRefusal } from './refusal-view.ts'

/** How often the usage is loaded, in milliseconds: other programs may use the same key, too. */
const RELOAD_EVERY = 2_000

/** The limits of the key, as the responses to this page have stated them. */
interface KnownUsage {
  readonly plan?: string
  readonly minute?: RateLimit
  readonly day?: RateLimit
  readonly bannedUntil?: number | undefined
}

/** Shows both limits of the key, explains a 429 and a ban, and has buttons that provoke them. */
export class LimitsView {
  readonly #api: Api
  readonly #minute = createGauge('Requests this minute', 'This minute')
  readonly #day = createGauge('Requests today', 'Today (UTC)')
  #usage: KnownUsage | undefined
  /** The server's time minus the browser's time, in milliseconds. */
  #clockOffset = 0
  #refusal: Refusal | undefined
  #isSending = false
  #isLoading = false
  #isLost = false
  readonly #onServed: () => void

  /** @param onServed - called when the server accepts requests again after a 429 */
  constructor(api: Api, onServed: () => void) {
    this.#api = api
    this.#onServed = onServed
    byId('gauges').append(this.#minute.element, this.#day.element)
    byId('burst').addEventListener('click', () => void this.#burst('rate_limit_exceeded'))
    byId('keep-sending').addEventListener('click', () => void this.#burst('api_key_banned'))
    byId('stop').addEventListener('click', () => {
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
    if (this.#isSending || this.#api.key === '') return
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
          const advice =
            'A minute has passed, so the count began again. A key of a smaller plan reaches its limit sooner.'
          setNote(note, '', `${counts()} ${advice}`)
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
    const usage = this.#isLost ? undefined : this.#usage
    const now = Date.now() + this.#clockOffset
    this.#minute.show(usage?.minute, now, usage?.bannedUntil)
    this.#day.show(usage?.day, now)
    const plan = byId('plan')
    plan.hidden = usage?.plan === undefined
    setText(plan, usage?.plan === undefined ? '' : `Plan ${usage.plan}`)
    const { isAccepted, sent, key } = this.#api
    byId('limits-invalid').hidden = isAccepted !== false
    const sentText = `This page has sent ${plural(sent, 'request')} with this key since it was loaded.`
    setText(byId('limits-sent'), key === '' ? '' : sentText)
    this.#renderRefusal()
    this.#renderButtons()
  }

  #renderRefusal(): void {
    if (this.#refusal !== undefined && Date.now() >= this.#refusal.endsAt && !this.#isSending) {
      this.#refusal = undefined
      setNote(byId('burst-note'), '')
      this.#onServed()
    }
    const hadFocus = document.activeElement === byId('refusal-title')
    showRefusal(this.#refusal)
    if (hadFocus && this.#refusal === undefined) byId('burst').focus()
  }

  #renderButtons(): void {
    const refusal = this.#refusal
    const buttons = {
      stop: this.#isSending,
      'keep-sending': refusal?.kind === 'key' && !this.#isSending,
      burst: refusal === undefined && !this.#isSending,
    }
    const focused = Object.keys(buttons).find((id) => document.activeElement === byId(id))
    for (const [id, isShown] of Object.entries(buttons)) byId(id).hidden = !isShown
    setEnabled(byId('burst'), this.#api.key !== '')
    // A hidden button loses the focus. Move the focus to the next button or the explanation.
    const next = Object.entries(buttons).find(([, isShown]) => isShown)?.[0] ?? 'refusal-title'
    if (focused !== undefined && byId(focused).hidden) byId(next).focus()
  }
}

/** Returns the limit in the headers, which describe the window with fewer remaining requests. */
function usageIn(exchange: Exchange): KnownUsage {
  const cost = costOf(exchange)
  if (cost === undefined) return {}
  return cost.resetsAt - Date.now() <= MINUTE ? { minute: cost } : { day: cost }
}
