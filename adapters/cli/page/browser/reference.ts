import { byId } from './dom.ts'
import { currentKey, loadSettings } from './settings.ts'

/** The part of Swagger UI that this page uses. */
interface SwaggerUi {
  preauthorizeApiKey(scheme: string, token: string): void
  readonly specSelectors: { specJson(): { toJS(): OpenApiDocument } }
}

interface OpenApiDocument {
  readonly components?: { readonly securitySchemes?: Readonly<Record<string, { readonly scheme?: string }>> }
}

declare const SwaggerUIBundle: (options: Readonly<Record<string, unknown>>) => SwaggerUi

const prefersDark = matchMedia('(prefers-color-scheme: dark)')
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', prefersDark.matches)
prefersDark.addEventListener('change', applyTheme)
applyTheme()

const settings = await loadSettings()
byId('reference').replaceChildren()
const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  tryItOutEnabled: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  // The badge of an online validator would send the address of this server to it.
  validatorUrl: null,
  onComplete: () => {
    const key = currentKey(settings)
    if (key !== '') authorize(key)
  },
})

/** Fills in the key, so that the console works at once. */
function authorize(key: string): void {
  const schemes = ui.specSelectors.specJson().toJS().components?.securitySchemes ?? {}
  const name = Object.keys(schemes).find((scheme) => schemes[scheme]?.scheme?.toLowerCase() === 'bearer')
  if (name !== undefined) ui.preauthorizeApiKey(name, key)
}
