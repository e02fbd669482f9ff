import { type ErrorCode, errorTable } from './errors.ts'
import type { ApiResponse } from './exchange.ts'

/** An error response: the three members of the contract, and the headers that go with the code. */
export function errorReply(code: ErrorCode, headers: readonly string[] = [], message?: string): ApiResponse {
  const { status, message: usual } = errorTable[code]
  return jsonReply(status, JSON.stringify({ code, message: message ?? usual, status }), headers)
}

/** A response of JSON, and the headers that go with it. */
export function jsonReply(status: number, body: string, headers: readonly string[] = []): ApiResponse {
  return { status, headers: ['Content-Type', 'application/json', ...headers], body }
}
