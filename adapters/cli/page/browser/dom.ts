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

/** Sets an element's text only if the text differs, so that screen readers do not repeat a status. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Shows a note below a form or a group of buttons. */
export function setNote(element: HTMLElement, text: string, kind: '' | 'good' | 'bad' = ''): void {
  element.className = `note ${kind}`
  setText(element, text)
}
