/** Returns the element with an id. Throws if the page has no such element. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`the page has no element #${id}`)
  return element as T
}

/** Creates an element with a class, and adds texts and elements to it. Texts are never parsed as HTML. */
export function create(tag: string, className = '', ...children: (Node | string)[]): HTMLElement {
  const element = document.createElement(tag)
  if (className !== '') element.className = className
  element.append(...children)
  return element
}

/** Creates an element for a text of a user, whose direction of writing must not turn the text around it. */
export function isolated(text: string): HTMLElement {
  return create('bdi', '', text)
}

/** Sets an element's text only if the text differs, so that screen readers do not repeat a status. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Shows a note below a form or a group of buttons. */
export function setNote(element: HTMLElement, kind: '' | 'good' | 'bad', ...parts: (Node | string)[]): void {
  const note = create('p', '', ...parts)
  element.className = `note small ${kind}`
  if (element.textContent !== note.textContent) element.replaceChildren(...note.childNodes)
}

/** Turns a button on or off. An off button keeps the focus, which the attribute `disabled` would move to the page's start. */
export function setEnabled(button: HTMLElement, isEnabled: boolean): void {
  button.setAttribute('aria-disabled', String(!isEnabled))
}

/** Calls a function when an enabled button is clicked. */
export function onClick(button: HTMLElement, listener: () => void): void {
  button.addEventListener('click', () => {
    if (button.getAttribute('aria-disabled') !== 'true') listener()
  })
}

/**
 * Copies a text. If the browser does not allow it, selects another text instead, and returns false.
 *
 * @param shown - the element for the text to select
 */
export async function copyOrSelect(text: string, shown: HTMLElement, selected = text): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    setText(shown, selected)
    getSelection()?.selectAllChildren(shown)
    return false
  }
}
