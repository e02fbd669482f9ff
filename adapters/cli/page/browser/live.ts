import type { LogEntry } from '../request-log.ts'
import type { Settings } from '../routes.ts'
import { prepareAddForm } from './add-form.ts'
import { AnimalsView } from './animals-view.ts'
import { type Animal, Api } from './api.ts'
import { Connection } from './connection.ts'
import { byId, setNote } from './dom.ts'
import { parsed } from './explanation.ts'
import { FaultsView } from './faults-view.ts'
import { KeyForm } from './key-form.ts'
import { LimitsView } from './limits-view.ts'
import { LogView } from './log-view.ts'
import { takeSecret } from './session.ts'

takeSecret()
let settings: Settings | undefined
const log = new LogView()
const api: Api = new Api((exchange) => {
  keyForm.showAccepted(api.isAccepted)
  // Without the secret, the server sends no log, so the page shows its own requests.
  if (settings?.hasSecret) void connection.refresh()
  else log.add([exchange])
  limits.observe(exchange)
})
const animals = new AnimalsView(api, () => void connection.refresh())
const limits = new LimitsView(api, () => {
  setNote(byId('add-note'), '')
  void animals.load()
})
const keyForm = new KeyForm((key) => {
  api.key = key
  keyForm.showAccepted(undefined)
  forget()
})
prepareAddForm(api, (animal) => animals.addNew(animal))
const faults = new FaultsView(() => void connection.refresh())
const connection = new Connection({
  onSettings(received, isBack) {
    const before = settings
    settings = received
    const { key } = api
    api.basePath = received.basePath
    log.emptyText = received.hasSecret
      ? 'The next request of any program appears here.'
      : 'Your next request appears here.'
    keyForm.update(received)
    animals.canChange = received.hasSecret
    faults.update(received.faults)
    log.add(received.entries)
    if (isBack) limits.isLost = false
    if (before === undefined) return
    if (before.resets !== received.resets) forget()
    for (const entry of received.entries) showAnimalOf(entry)
    if (isBack && key === api.key) {
      void animals.load()
      void limits.reload()
    }
    animals.retry()
  },
  onLost() {
    limits.isLost = true
    if (settings === undefined)
      setNote(byId('animals-note'), 'bad', 'The server does not respond. This page tries again every second.')
  },
  isSilent: () => api.isSilent,
})

/** Forgets what the page knew with another key, or before a test has reset the store. */
function forget(): void {
  limits.reset()
  animals.reset()
}

/** Shows the animal that a request of any program has added, or that this page or another one has changed. */
function showAnimalOf(entry: LogEntry): void {
  if ('call' in entry) {
    const animal = parsed(entry.pet) as Animal
    if (entry.isRemoved) animals.remove(animal)
    else animals.replace(animal)
    return
  }
  const isCreated = entry.status === 201 && entry.target.split('?')[0] === `${settings?.basePath}/pets`
  const animal = isCreated ? (parsed(entry.responseBody) as Animal | undefined) : undefined
  if (animal !== undefined) animals.addNew(animal)
}
