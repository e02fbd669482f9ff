import { type SampledRequest, sampleOf } from '../../../../src/openapi/reference/samples.ts'
import { prepareAddForm } from './add-form.ts'
import { AnimalsView } from './animals-view.ts'
import { type Animal, Api } from './api.ts'
import { Composer } from './composer.ts'
import { Connection } from './connection.ts'
import { byId, setNote, setText } from './dom.ts'
import { parsed } from './explanation.ts'
import { KeyForm } from './key-form.ts'
import { LimitsView } from './limits-view.ts'
import { LogView } from './log-view.ts'
import { copySample } from './request-buttons.ts'
import { type Settings, takeSecret } from './settings.ts'

takeSecret()
let settings: Settings | undefined
const log = new LogView({
  tokenOf: (id) => settings?.demoKeys.find((key) => key.id === id)?.token,
  send: (request) => api.sendTo(request),
  edit: (request) => composer.open(request),
})
const api: Api = new Api((exchange) => {
  keyForm.showAccepted(api.isAccepted)
  if (settings?.hasSecret) void connection.refresh()
  else log.add([exchange])
  limits.observe(exchange)
})
const animals = new AnimalsView(api)
const limits = new LimitsView(api, () => {
  setNote(byId('add-note'), '')
  void animals.load()
})
const keyForm = new KeyForm((key) => {
  api.key = key
  keyForm.showAccepted(undefined)
  forget()
})
const composer = new Composer(
  (request) => log.sendAndOpen(request),
  () => api.basePath,
)
prepareAddForm(api, (animal) => animals.addNew(animal))
const connection = new Connection({
  onSettings(received, isBack) {
    const isFirst = settings === undefined
    const hadResets = settings?.resets
    settings = received
    api.basePath = received.basePath
    log.emptyText = received.hasSecret
      ? 'The next request of any program appears here.'
      : 'Your next request appears here.'
    const { key } = api
    // Each response has only the new requests. The id of the newest one stays known.
    const requests = received.requests.length > 0 ? received.requests : animals.state.requests.slice(-1)
    animals.state = { ...received, requests }
    keyForm.update(received)
    showFirstSample()
    if (!isFirst && hadResets !== received.resets) forget()
    log.add(received.requests)
    if (!isFirst) for (const animal of received.requests.flatMap(addedBy)) animals.addNew(animal)
    if (isBack && !isFirst && key === api.key) {
      void animals.load()
      void limits.reload()
    }
    if (isBack) limits.isLost = false
    animals.retry()
  },
  onLost() {
    limits.isLost = true
    if (settings === undefined)
      setText(byId('animals-note'), 'The server does not respond. This page tries again every second.')
  },
  isSilent: () => api.isSilent,
})

/** Forgets what the page knew with another key, or before a test has reset the store. */
function forget(): void {
  limits.reset()
  animals.reset()
}

for (const link of document.querySelectorAll<HTMLElement>('[data-goto]'))
  link.addEventListener('click', (event) => {
    // Otherwise, the link would change the URL, and the animals would load again, as after Back.
    event.preventDefault()
    const targets = document.querySelectorAll<HTMLElement>(link.dataset.goto ?? '')
    ;[...targets].find((target) => target.checkVisibility())?.focus()
  })
byId('copy-first').addEventListener('click', () => {
  void copySample('curl', firstSample(), byId('first-sample'), byId('first-note'))
})

function firstSample(): SampledRequest {
  const token = settings?.demoKeys.find((key) => key.token === api.key)?.token
  const url = `${location.origin}${api.basePath}/pets?limit=2`
  return { method: 'GET', url, headers: {}, body: '', hasToken: true, token }
}

function showFirstSample(): void {
  setText(byId('first-sample'), sampleOf('curl', firstSample()))
  const hasKey = api.key !== ''
  setText(byId('first-title'), hasKey ? '1. Copy this curl' : '1. Enter a key')
  byId('first-key').hidden = hasKey
  byId('copy-first').classList.toggle('primary', hasKey)
}

/** Returns a list with the animal that a request of any program has added, or an empty list. */
function addedBy({ status, target, responseBody }: Settings['requests'][number]): Animal[] {
  const isCreated = status === 201 && target.split('?')[0] === `${settings?.basePath}/pets`
  const animal = isCreated ? (parsed(responseBody) as Animal | undefined) : undefined
  return animal === undefined ? [] : [animal]
}
