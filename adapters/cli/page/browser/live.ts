import { AnimalsView } from './animals-view.ts'
import { Api } from './api.ts'
import { byId, setText } from './dom.ts'
import { LimitsView } from './limits-view.ts'
import { responseView } from './response-view.ts'
import { currentKey, keepKey, loadSettings, type Settings } from './settings.ts'

await start()

/** Starts the main page, with its views of the limits, the animals and the last response. */
async function start(): Promise<void> {
  const settings = await loadSettings()
  setText(byId('base-url'), location.origin + settings.basePath)
  const showResponse = responseView()
  const api = new Api(settings.basePath, (exchange, { isShown = true }) => {
    if (isShown) showResponse(exchange)
    limits.observe(exchange)
  })
  const animals = new AnimalsView(api)
  const limits = new LimitsView(api, () => void animals.load())
  prepareKeyForm(settings, (key) => {
    api.key = key
    limits.reset()
    animals.reset()
  })
}

function prepareKeyForm(settings: Settings, useKey: (key: string) => void): void {
  const { demoKeys } = settings
  const input = byId<HTMLInputElement>('key')
  const plans = byId<HTMLSelectElement>('key-plan')
  const show = byId('key-show')

  const use = (key: string) => {
    keepKey(key, settings)
    plans.value = demoKeys.some(({ token }) => token === key) ? key : ''
    useKey(key)
  }

  plans.append(...demoKeys.map(({ plan, token }) => new Option(plan, token)), new Option('another key', ''))
  byId('key-plan-field').hidden = demoKeys.length === 0
  plans.addEventListener('change', () => {
    input.value = plans.value
    if (plans.value === '') input.focus()
    else use(plans.value)
  })
  byId('key-form').addEventListener('submit', (event) => {
    event.preventDefault()
    use(input.value.trim())
  })
  show.addEventListener('click', () => {
    const isShown = input.type === 'password'
    input.type = isShown ? 'text' : 'password'
    show.setAttribute('aria-pressed', String(isShown))
  })
  if (!settings.hasSecret)
    setText(
      byId('key-note'),
      'Open the whole address that the server has printed, to see its demo keys and the usage of a key.',
    )
  if (demoKeys.length > 0)
    setText(byId('key-note'), 'The server keeps everything in memory for this machine, so its demo keys are filled in.')
  input.value = currentKey(settings)
  use(input.value)
}
