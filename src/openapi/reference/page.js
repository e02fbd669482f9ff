// The script of the reference. The live view of `petstore serve` uses it too, for the choice of
// light or dark. The reference can be read without it, so every part is optional.

/** The names under which `localStorage` keeps the choices of the visitor. */
const LANGUAGE = 'petstore.language'
const THEME = 'petstore.theme'

/** Some browsers throw for `localStorage`, for example if the visitor has blocked cookies. */
function remembered(name) {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value)
  } catch {}
}

const systemDark = matchMedia('(prefers-color-scheme: dark)')
const themeButton = document.querySelector('.theme')

function showTheme() {
  const theme = remembered(THEME)
  const isDark = theme === null ? systemDark.matches : theme === 'dark'
  document.documentElement.style.colorScheme = theme ?? ''
  themeButton?.setAttribute('aria-pressed', String(isDark))
}

if (themeButton) {
  themeButton.hidden = false
  themeButton.addEventListener('click', () => {
    remember(THEME, themeButton.getAttribute('aria-pressed') === 'true' ? 'light' : 'dark')
    showTheme()
  })
  systemDark.addEventListener('change', showTheme)
}
showTheme()

/** If the document has no host, the samples get the host that has sent this page. */
for (const origin of document.querySelectorAll('.origin')) origin.textContent = location.origin

function showLanguage(language) {
  for (const input of document.querySelectorAll('.samples input')) if (input.value === language) input.checked = true
}

showLanguage(remembered(LANGUAGE))
document.querySelector('.reference')?.addEventListener('change', ({ target }) => {
  const top = () => target.parentElement.getBoundingClientRect().top
  const before = top()
  remember(LANGUAGE, target.value)
  showLanguage(target.value)
  // Samples differ in length. Scroll, so that the clicked sample stays at its place in the window.
  scrollBy(0, top() - before)
})

const sections = [...document.querySelectorAll('.reference main section')]
const links = document.querySelectorAll('.contents a')

/** Highlights the link to the section at the top, which the last section may be too short for. */
function markCurrent() {
  const isAtEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 1
  const reached = sections.findLast((section) => section.getBoundingClientRect().top <= 100)
  const current = isAtEnd ? sections.at(-1) : (reached ?? sections[0])
  for (const link of links)
    if (link.hash === `#${current?.id}`) link.setAttribute('aria-current', 'location')
    else link.removeAttribute('aria-current')
}

if (sections.length > 0) {
  addEventListener('scroll', markCurrent)
  addEventListener('resize', markCurrent)
  markCurrent()
}

/** Copies a text, or selects it if the browser forbids copying, as on pages over plain HTTP. */
async function copy(shown) {
  try {
    await navigator.clipboard.writeText(shown.textContent)
    return 'Copied'
  } catch {
    getSelection().selectAllChildren(shown)
    return 'Selected'
  }
}

for (const box of document.querySelectorAll('.code')) {
  const button = box.querySelector('button')
  button.hidden = false
  button.ariaLive = 'polite'
  button.addEventListener('click', async () => {
    button.textContent = await copy(box.querySelector('pre'))
  })
  button.addEventListener('blur', () => {
    button.textContent = 'Copy'
  })
}
