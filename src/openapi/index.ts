export { type OpenApiDocument, openApiDocument } from './document.ts'
export { type ReferenceOptions, referenceHtml } from './reference.ts'
