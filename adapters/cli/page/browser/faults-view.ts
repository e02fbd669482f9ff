import { byId, create, setEnabled, setNote } from './dom.ts'
import { secretHeader } from './session.ts'

/** How long the server may take, in milliseconds. */
const TIMEOUT = 5_000

/** Shows the faults of the server, and switches them. */
export class FaultsView {
  #shown = ''

  /** @param onChange - called when the visitor has changed the faults */
  constructor(onChange: () => void) {
    byId('faults-form').addEventListener('submit', async (event) => {
      event.preventDefault()
      const query = new URLSearchParams({ delay: input('delay').value, fail: input('fail').value })
      await change('POST', `?${query}`)
      onChange()
    })
    byId('faults-end').addEventListener('click', async () => {
      await change('DELETE', '')
      onChange()
    })
  }

  /** @param faults - in words; `null` hides the view */
  update(faults: readonly string[] | null): void {
    byId('faults').hidden = faults === null
    const text = JSON.stringify(faults)
    if (faults === null || text === this.#shown) return
    this.#shown = text
    const none = 'There are no faults: the server responds as fast as it can.'
    byId('faults-list').replaceChildren(
      ...(faults.length === 0 ? [none] : faults).map((fault) => create('li', '', fault)),
    )
    setEnabled(byId('faults-end'), faults.length > 0)
  }
}

function input(name: 'delay' | 'fail'): HTMLInputElement {
  return byId<HTMLInputElement>(`faults-${name}`)
}

async function change(method: 'POST' | 'DELETE', query: string): Promise<void> {
  const note = byId('faults-note')
  try {
    const signal = AbortSignal.timeout(TIMEOUT)
    const response = await fetch(`/page/faults${query}`, { method, headers: secretHeader(), signal })
    if (response.ok) setNote(note, '', '')
    else setNote(note, 'bad', String(Object(await response.json()).message))
  } catch {
    setNote(note, 'bad', 'The server did not respond, so the faults may be as before.')
  }
}
