import { byId, setNote, setText } from './dom.ts'
import { currentKey, keepKey, type Settings } from './settings.ts'

export class KeyForm {
  readonly #useKey: (key: string) => void
  #settings: Settings = { basePath: '', resets: 0, hasSecret: false, demoKeys: [], requests: [] }
  #isStarted = false
  #isRejected = false

  constructor(useKey: (key: string) => void) {
    this.#useKey = useKey
    const input = byId<HTMLInputElement>('key')
    const plans = byId<HTMLSelectElement>('key-plan')
    plans.addEventListener('change', () => {
      input.value = plans.value
      if (plans.value === '') input.focus()
      else this.#choose(plans.value)
    })
    byId('key-form').addEventListener('submit', (event) => {
      event.preventDefault()
      this.#choose(input.value.trim())
    })
    byId('key-demo').addEventListener('click', () => {
      input.value = this.#settings.demoKeys[0]?.token ?? ''
      this.#choose(input.value)
      input.focus()
    })
    byId('key-show').addEventListener('click', () => {
      const isShown = input.type === 'password'
      input.type = isShown ? 'text' : 'password'
      byId('key-show').setAttribute('aria-pressed', String(isShown))
    })
  }

  /** Shows the demo keys of the server. If they changed, replaces a demo key that is in use. */
  update(settings: Settings): void {
    const { demoKeys } = settings
    const hadDemoKeys = this.#settings.demoKeys
    const isSame = JSON.stringify(demoKeys) === JSON.stringify(hadDemoKeys)
    const input = byId<HTMLInputElement>('key')
    const isUnused = !this.#isStarted || hadDemoKeys.some(({ token }) => token === input.value) || input.value === ''
    this.#settings = settings
    this.#showNote()
    if (isSame && this.#isStarted) return
    this.#isStarted = true
    const options = demoKeys.map(({ plan, token }) => new Option(plan, token))
    byId('key-plan').replaceChildren(...options, new Option('another key', ''))
    byId('key-plan-field').hidden = demoKeys.length === 0
    if (isUnused) input.value = currentKey(settings)
    this.#showPlan(input.value)
    if (isUnused) this.#useKey(input.value)
  }

  /** @param isAccepted - `undefined` if it is not known yet whether the server accepts the key */
  showAccepted(isAccepted: boolean | undefined): void {
    this.#isRejected = isAccepted === false
    this.#showNote()
  }

  #showNote(): void {
    const { hasSecret, demoKeys } = this.#settings
    const [demo] = demoKeys
    const rejected = 'The server does not accept this key: it is unknown, mistyped, expired or revoked.'
    byId('key').setAttribute('aria-invalid', String(this.#isRejected))
    byId('key-demo').hidden = !this.#isRejected || demo === undefined
    setText(byId('key-demo'), `Use the ${demo?.plan} demo key`)
    const note = this.#isRejected ? rejected : noteOf(hasSecret, demo !== undefined)
    setNote(byId('key-note'), this.#isRejected ? 'bad' : '', note)
  }

  #choose(key: string): void {
    keepKey(key, this.#settings)
    this.#showPlan(key)
    this.#useKey(key)
  }

  #showPlan(key: string): void {
    const isDemo = this.#settings.demoKeys.some(({ token }) => token === key)
    byId<HTMLSelectElement>('key-plan').value = isDemo ? key : ''
  }
}

function noteOf(hasSecret: boolean, hasDemoKeys: boolean): string {
  if (hasDemoKeys)
    return 'The server stores everything in memory and serves only this machine, so its demo keys are filled in.'
  const advice =
    'Open the whole address that the server has printed, to see its demo keys, the usage of a key and all requests.'
  return hasSecret ? 'The key stays in this tab.' : `The key stays in this tab. ${advice}`
}
