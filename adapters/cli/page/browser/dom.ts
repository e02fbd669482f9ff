/** Throws if the page has no such element. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`the page has no element #${id}`)
  return element as T
}

/** Texts are never parsed as HTML. */
export function create(tag: string, className = '', ...children: (Node | string)[]): HTMLElement {
  const element = document.createElement(tag)
  if (className !== '') element.className = className
  element.append(...children)
  return element
}

/** A text of a user may be written from right to left, and must not reverse the text around it. */
export function isolated(text: string): HTMLElement {
  return create('bdi', '', text)
}

/** Does nothing if the element has this text already: screen readers would read it again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

export function setNote(element: HTMLElement, kind: '' | 'good' | 'bad', ...parts: (Node | string)[]): void {
  const note = create('p', '', ...parts)
  element.className = `note ${kind}`
  if (element.textContent !== note.textContent) element.replaceChildren(...note.childNodes)
}

/** A disabled button keeps the focus, which the attribute `disabled` would take away. */
export function setEnabled(button: HTMLElement, isEnabled: boolean): void {
  button.ariaDisabled = String(!isEnabled)
}

/** Ignores clicks on a disabled button (see `setEnabled`). */
export function onClick(button: HTMLElement, listener: () => void): void {
  button.addEventListener('click', () => {
    if (button.ariaDisabled !== 'true') listener()
  })
}
