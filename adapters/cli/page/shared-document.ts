import { createHash } from 'node:crypto'
import type { ApiRequest } from '../../../src/index.ts'
import type { BytesResponse } from '../../hosts/node/response.ts'

export interface SharedDocument {
  readonly bytes: Buffer
  readonly tag: string
}

/** The bytes are created once, for all responses. */
export function sharedDocument(content: string | Uint8Array): SharedDocument {
  const bytes = Buffer.from(content)
  return { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

/** Responds with a document, or with 304 if the client has it (RFC 9110, section 13.1.2). */
export function documentResponse({ bytes, tag }: SharedDocument, request: ApiRequest, headers: readonly string[]) {
  const known = (request.header('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  const tagged = [...headers, 'ETag', tag, 'Cache-Control', 'no-cache']
  if (known.includes(tag) || known.includes('*')) return { status: 304, headers: tagged, body: '' } as const
  return { status: 200, headers: tagged, body: '', bytes } satisfies BytesResponse
}
