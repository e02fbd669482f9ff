import { byId, setNote, setText } from './dom.ts'

/** A request that a visitor can change and send. */
export interface DraftRequest {
  readonly method: string
  /** The path and the query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  /** The text of the body. It is never parsed, so all digits of a number stay. */
  readonly body: string
}

/** Sends a request with the key of the page. Throws if no response arrives. */
export type Send = (request: DraftRequest) => Promise<unknown>

/** Methods for which browsers permit no body. */
const BODILESS: readonly string[] = ['GET', 'HEAD']

/** The form to write a request, or to change one from the log or from the reference. */
export class Composer {
  readonly #send: Send

  constructor(send: Send, getPaths: () => string) {
    this.#send = send
    byId('compose-open').addEventListener('click', () => {
      if (byId('compose').hidden)
        this.open(this.#read() ?? { method: 'GET', target: `${getPaths()}/pets`, headers: {}, body: '' })
      else this.#show(false)
    })
    byId('compose-method').addEventListener('change', () => this.#showBody())
    byId('compose').addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#submit()
    })
    this.#openFromFragment()
    addEventListener('hashchange', () => this.#openFromFragment())
  }

  open({ method, target, headers, body }: DraftRequest): void {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    byId<HTMLSelectElement>('compose-method').value = method
    byId<HTMLInputElement>('compose-target').value = target
    byId<HTMLTextAreaElement>('compose-headers').value = lines.join('\n')
    byId<HTMLTextAreaElement>('compose-body').value = body
    setText(byId('compose-note'), '')
    this.#showBody()
    this.#show(true)
    byId('compose').scrollIntoView({ block: 'nearest' })
    byId('compose-target').focus()
  }

  /** Opens the request in the fragment of the address, which a link of the reference has set. */
  #openFromFragment(): void {
    const text = /^#send=(.*)$/.exec(location.hash)?.[1]
    if (text === undefined) return
    history.replaceState(history.state, '', location.pathname + location.search)
    try {
      this.open(JSON.parse(decodeURIComponent(text)))
    } catch {
      setText(byId('log-note'), 'The link has no request that this page can read.')
    }
  }

  #show(isOpen: boolean): void {
    byId('compose').hidden = !isOpen
    byId('compose-open').setAttribute('aria-expanded', String(isOpen))
  }

  #showBody(): void {
    const body = byId<HTMLTextAreaElement>('compose-body')
    body.disabled = BODILESS.includes(byId<HTMLSelectElement>('compose-method').value)
  }

  /** Returns `undefined` before the visitor has written a target. */
  #read(): DraftRequest | undefined {
    const method = byId<HTMLSelectElement>('compose-method').value
    const target = byId<HTMLInputElement>('compose-target').value.trim()
    const lines = byId<HTMLTextAreaElement>('compose-headers')
      .value.split('\n')
      .filter((line) => line.trim() !== '')
    const headers = lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, Math.max(colon, 0)).trim(), line.slice(colon + 1).trim()] as const
    })
    const body = BODILESS.includes(method) ? '' : byId<HTMLTextAreaElement>('compose-body').value
    return target === '' ? undefined : { method, target, headers: Object.fromEntries(headers), body }
  }

  async #submit(): Promise<void> {
    const note = byId('compose-note')
    const request = this.#read()
    if (request === undefined) return
    const nameless = Object.keys(request.headers).find((name) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    if (nameless !== undefined)
      return setNote(note, 'bad', 'A line of the headers has no name. Write each header as Name: value.')
    try {
      await this.#send(request)
      setNote(note, '', 'Sent. Its response is the first entry below.')
    } catch (error) {
      setNote(note, 'bad', `The request was not sent, or no response arrived: ${(error as Error).message}`)
    }
  }
}
