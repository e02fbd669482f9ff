import type { Settings } from '../routes.ts'
import { byId, setNote } from './dom.ts'
import { keepKey, keptKey } from './session.ts'

type KeySettings = Pick<Settings, 'hasSecret' | 'demoKeys'>

/** The key with which the page sends its requests: a demo key of the server, or one that the visitor enters. */
export class KeyForm {
  readonly #useKey: (key: string) => void
  readonly #input = byId<HTMLInputElement>('key')
  readonly #plans = byId<HTMLSelectElement>('key-plan')
  /** `undefined` until the server has sent its settings. */
  #settings: KeySettings | undefined
  #isRejected = false

  constructor(useKey: (key: string) => void) {
    this.#useKey = useKey
    this.#plans.addEventListener('change', () => {
      if (this.#plans.value === '') this.#input.select()
      else this.#choose(this.#plans.value)
    })
    byId('key-form').addEventListener('submit', (event) => {
      event.preventDefault()
      this.#choose(this.#input.value.trim())
    })
    byId('key-show').addEventListener('click', () => {
      const isHidden = this.#input.type === 'password'
      this.#input.type = isHidden ? 'text' : 'password'
      byId('key-show').ariaPressed = String(isHidden)
    })
  }

  /** Shows the demo keys of the server. If they changed, replaces a demo key that is in use. */
  update(settings: KeySettings): void {
    const before = this.#settings
    const { demoKeys } = settings
    this.#settings = settings
    this.#showNote()
    if (before && JSON.stringify(before.demoKeys) === JSON.stringify(demoKeys)) return
    byId('key-plan-field').hidden = demoKeys.length === 0
    this.#plans.replaceChildren(
      ...demoKeys.map(({ plan, token }) => new Option(plan, token)),
      new Option('another', ''),
    )
    const first = demoKeys[0]?.token ?? ''
    if (before === undefined) this.#use(keptKey() || first)
    else if (before.demoKeys.some(({ token }) => token === this.#input.value)) this.#use(first)
  }

  /** @param isAccepted - `undefined` if it is not known yet whether the server accepts the key */
  showAccepted(isAccepted: boolean | undefined): void {
    this.#isRejected = isAccepted === false
    this.#showNote()
  }

  #choose(key: string): void {
    keepKey(key)
    this.#use(key)
  }

  #use(key: string): void {
    this.#input.value = key
    this.#plans.value = this.#settings?.demoKeys.some(({ token }) => token === key) ? key : ''
    this.#useKey(key)
  }

  #showNote(): void {
    this.#input.ariaInvalid = String(this.#isRejected)
    if (this.#isRejected)
      setNote(
        byId('key-note'),
        'bad',
        'The server does not accept this key: it is unknown, mistyped, expired, suspended or revoked.',
      )
    else setNote(byId('key-note'), '', noteOf(this.#settings))
  }
}

function noteOf(settings: KeySettings | undefined): string {
  if (settings === undefined) return ''
  if (settings.demoKeys.length > 0)
    return 'The server stores everything in memory and serves only this machine, so its demo keys are filled in.'
  const advice =
    'Open the whole address that the server has printed, to see its demo keys, the usage of a key and all requests.'
  return settings.hasSecret ? 'The key stays in this tab.' : `The key stays in this tab. ${advice}`
}
