export { type OpenApiDocument, type OpenApiOptions, openApiDocument } from './document.ts'
export { referenceHtml } from './reference/reference-html.ts'
