import type { LoggedRequest } from '../request-log.ts'
import { LANGUAGES, type Language, type SampledRequest, sampleOf } from '../samples.ts'
import { copyOrSelect, create, setText } from './dom.ts'

export interface RequestActions {
  /** Returns the token of a demo key of this page by the key's id; `undefined` for any other key. */
  tokenOf(keyId: string | undefined): string | undefined
  /** Sends a request with the key of the page. Throws if no response arrives. */
  send(target: string, method: string, headers: Readonly<Record<string, string>>, body: string): Promise<unknown>
}

/** The headers that are sent again. Other headers only describe the program that sent the first request. */
const SAMPLED: readonly string[] = ['Accept', 'Content-Type', 'Idempotency-Key']

/** Returns the button "Send again" and one for each language. A click on a language copies a program that sends the request. */
export function requestButtons(request: LoggedRequest, { tokenOf, send }: RequestActions): HTMLElement {
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
      await send(target, method, headers, body)
      setText(status, 'Sent again.')
    } catch {
      setText(status, 'No response arrived.')
    }
  })
  const copies = LANGUAGES.map((language) => button(language, () => copySample(language, sampled, shown, status)))
  const group = create('div', 'row start', create('span', 'small', 'Copy as'), ...copies)
  group.setAttribute('role', 'group')
  group.setAttribute('aria-label', 'Copy as')
  return create('div', 'stack', create('div', 'row start', again, group), status, shown)
}

/** Copies a program that sends the request, and shows this program with its key masked. */
export async function copySample(
  language: Language,
  sampled: SampledRequest,
  shown: HTMLElement,
  status: HTMLElement,
): Promise<void> {
  const isMasked = sampled.token !== undefined
  shown.hidden = false
  shown.setAttribute('aria-label', `Sample in ${language}`)
  setText(shown, sampleOf(language, { ...sampled, token: isMasked ? 'pet_***' : undefined }))
  const read = sampleOf(language, { ...sampled, token: undefined })
  const isCopied = await copyOrSelect(sampleOf(language, sampled), shown, read)
  const text = isMasked ? `Copied as ${language}, with the demo key.` : `Copied as ${language}.`
  const advice = 'The browser did not allow copying. The sample is selected: copy it with the keyboard.'
  setText(status, isCopied ? text : advice)
}

function button(text: string, onClick: () => void): HTMLElement {
  const element = create('button', 'small', text)
  element.setAttribute('type', 'button')
  element.addEventListener('click', onClick)
  return element
}
