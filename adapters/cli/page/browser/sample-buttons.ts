import type { LoggedRequest } from '../request-log.ts'
import { LANGUAGES, type Language, sampleOf } from '../samples.ts'
import { create, setText } from './dom.ts'

/** Returns the token of a demo key of this page by the key's id; `undefined` for any other key. */
export type DemoKeyToken = (keyId: string | undefined) => string | undefined

/** The sent request headers that belong into a sample. The others are those of the program that has sent the request. */
const SAMPLED: readonly string[] = ['Accept', 'Content-Type', 'Idempotency-Key']

/** Returns buttons that copy a request as a program, and show the program with its key masked. */
export function sampleButtons(request: LoggedRequest, tokenOf: DemoKeyToken): HTMLElement {
  const { method, target, body, hasToken } = request
  const token = tokenOf(request.key?.id)
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name, value]) => SAMPLED.includes(name) && value !== '*/*'),
  )
  const sampled = { method, url: location.origin + target, headers, body, hasToken }
  const shown = create('pre')
  shown.hidden = true
  shown.tabIndex = 0
  shown.setAttribute('role', 'group')
  const status = create('p', 'note')
  status.setAttribute('role', 'status')
  const copy = async (language: Language) => {
    const isMasked = token !== undefined
    shown.hidden = false
    shown.setAttribute('aria-label', `Sample in ${language}`)
    setText(shown, sampleOf(language, { ...sampled, token: isMasked ? 'pet_***' : undefined }))
    const isCopied = await copyText(sampleOf(language, { ...sampled, token }))
    if (isCopied)
      return setText(status, isMasked ? `Copied as ${language}, with the demo key.` : `Copied as ${language}.`)
    setText(shown, sampleOf(language, sampled))
    getSelection()?.selectAllChildren(shown)
    setText(status, 'The browser has not allowed to copy. The sample is selected: copy it with the keyboard.')
  }
  const buttons = LANGUAGES.map((language) => {
    const button = create('button', 'quiet small', language)
    button.setAttribute('type', 'button')
    button.addEventListener('click', () => void copy(language))
    return button
  })
  const group = create('div', 'copy', create('span', 'copy-title', 'Copy as'), ...buttons)
  group.setAttribute('role', 'group')
  group.setAttribute('aria-label', 'Copy as')
  return create('div', 'samples', group, status, shown)
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
