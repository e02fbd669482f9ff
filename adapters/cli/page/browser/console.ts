import { consoleDocument, type OpenApiDocument } from './console-document.ts'
import { byId } from './dom.ts'
import { indented } from './explanation.ts'
import { currentKey, loadSettings, takeSecret } from './settings.ts'

interface SwaggerUi {
  preauthorizeApiKey(scheme: string, token: string): void
  readonly specSelectors: { specJson(): { toJS(): OpenApiDocument } }
}

interface SwaggerSystem {
  readonly React: { createElement(component: unknown, props: object, ...children: string[]): unknown }
  getComponent(name: string, isContainer: true): unknown
}

declare const SwaggerUIBundle: (options: Readonly<Record<string, unknown>>) => SwaggerUi

const prefersDark = matchMedia('(prefers-color-scheme: dark)')
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', prefersDark.matches)
prefersDark.addEventListener('change', applyTheme)
applyTheme()

takeSecret()
const settings = await loadSettings()
const panel = byId('console')
panel.replaceChildren()
const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#console',
  tryItOutEnabled: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  plugins: [
    {
      wrapComponents: { responseBody: exactResponseBody },
      statePlugins: { spec: { wrapActions: { updateJsonSpec } } },
    },
  ],
  // The colours of this theme have enough contrast.
  syntaxHighlight: { theme: 'monokai' },
  // `null` turns off the validator badge: it would send the URL of this server to an online validator.
  validatorUrl: null,
  onComplete: () => authorize(currentKey(settings)),
})

function updateJsonSpec(update: (document: OpenApiDocument) => unknown) {
  return (document: OpenApiDocument) => update(consoleDocument(document))
}

/** Shows all digits of numbers: Swagger UI uses `JSON.parse`, which rounds 64-bit integers. */
function exactResponseBody(original: unknown, { React, getComponent }: SwaggerSystem) {
  return (props: { readonly content: unknown; readonly contentType?: string }) => {
    const { content, contentType = '' } = props
    if (typeof content !== 'string' || !contentType.includes('json')) return React.createElement(original, props)
    const code = { language: 'json', downloadable: true, fileName: 'response.json', canCopy: true }
    return React.createElement(getComponent('HighlightCode', true), code, indented(content))
  }
}

/** Enters the key of the page, so that the visitor need not type it again. */
function authorize(key: string): void {
  const schemes = ui.specSelectors.specJson().toJS().components?.securitySchemes ?? {}
  const name = Object.keys(schemes).find((scheme) => schemes[scheme]?.scheme?.toLowerCase() === 'bearer')
  if (name !== undefined && key !== '') ui.preauthorizeApiKey(name, key)
}

repairLabels()
new MutationObserver(repairLabels).observe(panel, { childList: true, subtree: true })

/** Adds what Swagger UI lacks for screen readers and keyboards: names, levels of headings, and focus for code blocks. */
function repairLabels(): void {
  for (const control of panel.querySelectorAll('select, textarea, tr[data-param-name] input'))
    name(control, nameOfControl(control))
  for (const table of panel.querySelectorAll('.responses-table[role=region]'))
    name(table, `Responses to ${table.closest('.opblock')?.id.split('-').at(-1)}`)
  for (const button of panel.querySelectorAll('.close-modal')) name(button, 'Close')
  // Voice control finds this button by its visible text "Logout", which the name "Remove authorization" does not contain.
  panel.querySelector('.modal-btn[aria-label]')?.removeAttribute('aria-label')
  // Swagger UI has no h2: below its h1, headings start with h3. So their levels are reduced by one.
  for (const heading of panel.querySelectorAll('h3, h4, h5, h6'))
    heading.setAttribute('aria-level', String(Math.min(4, Number(heading.tagName[1]) - 1)))
  for (const code of panel.querySelectorAll<HTMLElement>('pre:not([tabindex])')) code.tabIndex = 0
  // When Swagger UI has loaded the document, it adds a `main` element for the operations. A page must not have two.
  if (panel.querySelector('main')) panel.removeAttribute('role')
  else panel.setAttribute('role', 'main')
  for (const [selector, label] of [
    ['.information-container', 'About this API'],
    ['.scheme-container', 'Server and API key'],
  ] as const) {
    const region = panel.querySelector(selector)
    region?.setAttribute('role', 'region')
    if (region) name(region, label)
  }
}

function name(element: Element, label: string): void {
  element.setAttribute('aria-label', label)
}

/** Returns the name of the parameter that a control belongs to, or the text beside the control. */
function nameOfControl(control: Element): string {
  const parameter = control.closest('tr')?.getAttribute('data-param-name')
  if (parameter) return parameter
  if (control.id === 'servers') return 'Server'
  if (control.tagName === 'TEXTAREA') return 'Request body'
  return control.closest('.examples-select') ? 'Example' : 'Media type'
}
