export { type OpenApiDocument, type OpenApiOptions, openApiDocument } from './document.ts'
export { type ReferenceOptions, referenceHtml } from './reference.ts'
