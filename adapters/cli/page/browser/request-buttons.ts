import { LANGUAGES, type Language, type SampledRequest, sampleOf } from '../../../../src/openapi/reference/samples.ts'
import type { LoggedRequest } from '../request-log.ts'
import type { DraftRequest, Send } from './composer.ts'
import { copyOrSelect, create, setText } from './dom.ts'

export interface RequestActions {
  /** Returns the token of a demo key by the key's id; `undefined` for any other key. */
  tokenOf(keyId: string | undefined): string | undefined
  readonly send: Send
  /** Opens the form in which the visitor can change the request. */
  edit(request: DraftRequest): void
}

/** The headers that are sent again. Others only describe the program that sent the request. */
const SAMPLED: readonly string[] = ['Accept', 'Content-Type', 'Idempotency-Key']

/** Returns buttons that send a request again, open it for changes, or copy it as a program. */
export function requestButtons(request: LoggedRequest, { tokenOf, send, edit }: RequestActions): HTMLElement {
  const { method, target, body, hasToken } = request
  const token = tokenOf(request.key?.id)
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name, value]) => SAMPLED.includes(name) && value !== '*/*'),
  )
  const sampled = { method, url: location.origin + target, headers, body, hasToken, token }
  const shown = create('pre')
  shown.hidden = true
  shown.tabIndex = 0
  shown.setAttribute('role', 'group')
  const status = create('p', 'note small')
  status.setAttribute('role', 'status')
  const again = button('Send again', async () => {
    try {
      await send({ method, target, headers, body })
      setText(status, 'Sent again.')
    } catch {
      setText(status, 'No response arrived.')
    }
  })
  const change = button('Edit and send', () => edit({ method, target, headers, body }))
  const copies = LANGUAGES.map((language) => button(language, () => copySample(language, sampled, shown, status)))
  const group = create('div', 'row start', create('span', 'small', 'Copy as'), ...copies)
  group.setAttribute('role', 'group')
  group.setAttribute('aria-label', 'Copy as')
  return create('div', 'stack', create('div', 'row start', change, again, group), status, shown)
}

/** Copies and shows a program. A demo key in it is useful only on this machine. */
export async function copySample(
  language: Language,
  sampled: SampledRequest,
  shown: HTMLElement,
  status: HTMLElement,
): Promise<void> {
  shown.hidden = false
  shown.setAttribute('aria-label', `Sample in ${language}`)
  setText(shown, sampleOf(language, sampled))
  const isCopied = await copyOrSelect(shown)
  const text = sampled.token !== undefined ? `Copied as ${language}, with the demo key.` : `Copied as ${language}.`
  const advice = 'The browser did not allow copying. The sample is selected: copy it with the keyboard.'
  setText(status, isCopied ? text : advice)
}

function button(text: string, onClick: () => void): HTMLElement {
  const element = create('button', 'small', text)
  element.setAttribute('type', 'button')
  element.addEventListener('click', onClick)
  return element
}
