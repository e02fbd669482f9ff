import type { Usage, UsageWindow } from '../usage.ts'
import type { Api, Exchange } from './api.ts'
import { byId, create, setNote, setText } from './dom.ts'

const SVG = 'http://www.w3.org/2000/svg'
const RADIUS = 54
const LENGTH = 2 * Math.PI * RADIUS
/** How often the usage is loaded, in milliseconds, because other programs may use the same key. */
const RELOAD_EVERY = 2_000
/** How long a burst of requests may take, in milliseconds. After a minute, a new window would begin. */
const BURST_TIME = 60_000

/** The last response with 429, and the time at which the refusal ends, by the browser's clock. */
interface Refusal {
  readonly exchange: Exchange
  readonly endsAt: number
}

/** Shows both rate limits of the key, explains a 429 and a ban, and has buttons that cause them. */
export class LimitsView {
  readonly #api: Api
  readonly #minute = gauge('Requests this minute', 'This minute')
  readonly #day = gauge('Requests today', 'Today (UTC)')
  #usage: Usage | undefined
  /** The server's time minus the browser's time, in milliseconds. */
  #clockOffset = 0
  #refusal: Refusal | undefined
  #isSending = false
  #isLoading = false
  readonly #onServed: () => void

  /** @param onServed - called when a refusal has ended */
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

  /** Clears the view, because it shows the previous key. */
  reset(): void {
    this.#isSending = false
    this.#usage = undefined
    this.#refusal = undefined
    setNote(byId('burst-note'), '')
    this.#render()
  }

  /** Updates the view after a response. */
  observe(exchange: Exchange): void {
    if (exchange.status === 429) {
      const seconds = Number(exchange.headers.get('Retry-After'))
      this.#refusal = { exchange, endsAt: Date.now() + seconds * 1_000 }
    } else if (exchange.status < 400) this.#refusal = undefined
    if (!this.#isSending) void this.reload()
  }

  /** Loads and shows the usage of the key. */
  async reload(): Promise<void> {
    if (this.#isLoading) return
    this.#isLoading = true
    const { key } = this.#api
    try {
      const usage = await this.#api.usage()
      if (key !== this.#api.key) return
      this.#usage = usage
      if (usage) this.#clockOffset = usage.now - Date.now()
      this.#render()
    } catch {
      // The server cannot be reached. The visitor's next request shows that.
    } finally {
      this.#isLoading = false
    }
  }

  /** Sends requests one after another until the server responds with the given error code. */
  async #burst(code: 'rate_limit_exceeded' | 'api_key_banned'): Promise<void> {
    const note = byId('burst-note')
    const endsAt = Date.now() + BURST_TIME
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
        setNote(note, counts())
        if (exchange.code === code || exchange.code === 'api_key_banned' || exchange.status === 401) break
        if (Date.now() >= endsAt) {
          setNote(
            note,
            `${counts()} A minute has passed, so a new limit is in force. A smaller plan reaches its limit sooner.`,
          )
          break
        }
        if (sent % 20 === 0) await this.reload()
      }
    } catch {
      setNote(note, `${counts()} Then the server did not respond.`, 'bad')
    }
    this.#isSending = false
    await this.reload()
    this.#render()
  }

  #render(): void {
    const usage = this.#usage
    const now = Date.now() + this.#clockOffset
    this.#minute.show(usage?.minute, now)
    this.#day.show(usage?.day, now)
    const plan = byId('plan')
    plan.hidden = usage === undefined
    setText(plan, usage === undefined ? '' : `Plan ${usage.plan}`)
    setText(byId('limits-text'), rulesOf(usage))
    this.#renderRefusal()
    const isRefused = this.#refusal !== undefined
    const isBanned = this.#refusal?.exchange.code === 'api_key_banned'
    byId('burst').hidden = isRefused || this.#isSending
    byId<HTMLButtonElement>('burst').disabled = this.#api.key === ''
    byId('keep-sending').hidden = !isRefused || isBanned || this.#isSending || usage?.ban === false
    byId('stop').hidden = !this.#isSending
  }

  #renderRefusal(): void {
    if (this.#refusal !== undefined && Date.now() >= this.#refusal.endsAt && !this.#isSending) {
      this.#refusal = undefined
      setNote(byId('burst-note'), '')
      this.#onServed()
    }
    const box = byId('refusal')
    box.hidden = this.#refusal === undefined
    if (this.#refusal === undefined) {
      setText(byId('refusal-title'), '')
      return
    }
    const { exchange, endsAt } = this.#refusal
    const isBanned = exchange.code === 'api_key_banned'
    box.classList.toggle('banned', isBanned)
    setText(byId('refusal-title'), isBanned ? 'This key is banned' : 'The limit is reached')
    setText(
      byId('refusal-text'),
      isBanned
        ? 'It kept sending requests after a 429. Until the ban ends, the server refuses every request.'
        : 'Until the limit resets, the server refuses every request. A client that waits as long as Retry-After says is served.',
    )
    setText(byId('refusal-left'), duration(endsAt - Date.now()))
    setText(byId('refusal-retry'), `${exchange.headers.get('Retry-After')} (seconds)`)
    setText(byId('refusal-body'), exchange.text)
  }
}

function rulesOf(usage: Usage | undefined): string {
  if (usage === undefined) return 'The gauges fill with the first response to this key.'
  if (usage.ban === false) return 'This server does not ban keys.'
  const { afterRefusals, seconds } = usage.ban
  return `After ${plural(afterRefusals, 'refused request')} in one minute, the key is banned for ${inWords(seconds)}.`
}

/** Returns a number with its noun: `1 request`, `1,000 requests`. */
function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** Returns a duration in words: `5 minutes`, `90 seconds`. */
function inWords(seconds: number): string {
  return seconds % 60 === 0 ? plural(seconds / 60, 'minute') : plural(seconds, 'second')
}

/** Returns a remaining time: `0:07`, `4:59`, `21 h 38 min`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000))
  const minutes = Math.floor(seconds / 60)
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `${minutes}:${String(seconds % 60).padStart(2, '0')}`
}

/** Creates a ring that shows how many requests remain, and when the limit resets. */
function gauge(label: string, title: string) {
  const ring = { cx: 64, cy: 64, r: RADIUS, fill: 'none', 'stroke-width': 9 }
  const track = shape('circle', { ...ring, class: 'track' })
  const arc = shape('circle', { ...ring, class: 'arc', 'stroke-linecap': 'round', transform: 'rotate(-90 64 64)' })
  const count = shape('text', { class: 'count', x: 64, y: 67, 'text-anchor': 'middle' })
  const of = shape('text', { class: 'of', x: 64, y: 85, 'text-anchor': 'middle' })
  const svg = shape('svg', { viewBox: '0 0 128 128', 'aria-hidden': 'true' })
  svg.append(track, arc, count, of)
  const reset = create('span', 'gauge-reset')
  const meter = create('div', '', svg)
  meter.setAttribute('role', 'meter')
  meter.setAttribute('aria-label', label)
  meter.setAttribute('aria-valuemin', '0')
  const element = create('div', 'gauge', meter, create('span', 'gauge-name', title), reset)
  return {
    element,
    show(window: UsageWindow | undefined, now: number) {
      const limit = window?.limit ?? 0
      const left = window === undefined ? 0 : now >= window.endsAt ? limit : Math.max(0, limit - window.used)
      const part = limit === 0 ? 0 : left / limit
      element.className = `gauge ${window === undefined || part > 0.25 ? '' : part > 0 ? 'warn' : 'bad'}`
      arc.setAttribute('visibility', part === 0 ? 'hidden' : 'visible')
      arc.setAttribute('stroke-dasharray', `${part * LENGTH} ${LENGTH}`)
      setText(count, window === undefined ? '–' : left.toLocaleString('en'))
      setText(of, window === undefined ? 'not known yet' : `of ${limit.toLocaleString('en')} left`)
      const isOver = window === undefined || now >= window.endsAt
      setText(reset, window === undefined ? '' : isOver ? 'Just reset' : `Resets in ${duration(window.endsAt - now)}`)
      meter.setAttribute('aria-valuemax', String(limit))
      meter.setAttribute('aria-valuenow', String(left))
      meter.setAttribute('aria-valuetext', window === undefined ? 'not known yet' : `${left} of ${limit} left`)
    },
  }
}

function shape(tag: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(SVG, tag) as SVGElement
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  return element
}
