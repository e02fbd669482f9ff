import { copyOrSelect, setText } from './dom.ts'

/** The name under which `localStorage` keeps the language of the samples. */
const LANGUAGE = 'petstore.language'

const sections = [...document.querySelectorAll('main > section')]
const links = document.querySelectorAll<HTMLAnchorElement>('.contents a')

function showLanguage(language: string | null): void {
  for (const input of document.querySelectorAll<HTMLInputElement>('.samples input'))
    if (input.value === language) input.checked = true
}

/** Highlights the link to the section at the top of the window. The last section may be too short to reach the top. */
function markCurrent(): void {
  const isAtEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 1
  const reached = sections.findLast((section) => section.getBoundingClientRect().top <= innerHeight / 4)
  const current = isAtEnd ? sections.at(-1) : (reached ?? sections[0])
  for (const link of links)
    if (link.hash === `#${current?.id}`) link.setAttribute('aria-current', 'location')
    else link.removeAttribute('aria-current')
}

showLanguage(localStorage.getItem(LANGUAGE))
document.addEventListener('change', ({ target }) => {
  const { value, parentElement } = target as HTMLInputElement
  const top = () => parentElement?.getBoundingClientRect().top ?? 0
  const before = top()
  localStorage.setItem(LANGUAGE, value)
  showLanguage(value)
  // Samples differ in length between languages. Scroll, so that the clicked sample stays at its place in the window.
  scrollBy(0, top() - before)
})

for (const box of document.querySelectorAll('.code')) {
  const button = box.querySelector('button') as HTMLButtonElement
  const shown = box.querySelector('pre') as HTMLElement
  button.hidden = false
  button.ariaLive = 'polite'
  button.addEventListener('click', async () => {
    const isCopied = await copyOrSelect(shown.textContent ?? '', shown)
    setText(button, isCopied ? 'Copied' : 'Selected')
  })
  button.addEventListener('blur', () => setText(button, 'Copy'))
}

addEventListener('scroll', markCurrent)
addEventListener('resize', markCurrent)
markCurrent()
