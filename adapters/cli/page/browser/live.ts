import { prepareAddForm } from './add-form.ts'
import { AnimalsView } from './animals-view.ts'
import { type Animal, Api } from './api.ts'
import { Connection } from './connection.ts'
import { byId, setText } from './dom.ts'
import { parsed } from './explanation.ts'
import { KeyForm } from './key-form.ts'
import { LimitsView } from './limits-view.ts'
import { ownRequest } from './log-entry.ts'
import { LogView } from './log-view.ts'
import { type Settings, takeSecret } from './settings.ts'

takeSecret()
let settings: Settings | undefined
const log = new LogView((id) => settings?.demoKeys.find((key) => key.id === id)?.token)
const api = new Api((exchange, { isShown = true }) => {
  if (isShown) log.expect(exchange)
  if (settings?.hasSecret) void connection.refresh()
  else log.add([ownRequest(exchange, api.key !== '', api.isAccepted)])
  limits.observe(exchange)
})
const animals = new AnimalsView(api)
const limits = new LimitsView(api, () => void animals.load())
const keyForm = new KeyForm((key) => {
  api.key = key
  limits.reset()
  animals.reset()
})
prepareAddForm(api, (animal) => animals.addNew(animal))
const connection = new Connection({
  onSettings(received, isBack) {
    const isFirst = settings === undefined
    settings = received
    api.basePath = received.basePath
    setText(byId('base-url'), location.origin + received.basePath)
    setText(
      byId('log-note'),
      received.hasSecret ? 'No program has sent a request yet.' : 'Your next request appears here.',
    )
    const { key } = api
    keyForm.update(received)
    log.add(received.requests)
    if (!isFirst) for (const animal of received.requests.flatMap(addedBy)) animals.addNew(animal)
    if (isBack && !isFirst && key === api.key) {
      void animals.load()
      void limits.reload()
    }
    if (isBack) limits.isLost = false
  },
  onLost() {
    limits.isLost = true
    if (settings === undefined)
      setText(byId('animals-note'), 'The server does not respond. This page tries again every second.')
  },
})

/** Returns the animal that a request of any program has added. */
function addedBy({ status, target, responseBody }: Settings['requests'][number]): Animal[] {
  const isCreated = status === 201 && target.split('?')[0] === `${settings?.basePath}/pets`
  const animal = isCreated ? (parsed(responseBody) as Animal | undefined) : undefined
  return animal === undefined ? [] : [animal]
}
