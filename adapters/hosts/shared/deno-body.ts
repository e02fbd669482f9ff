/** Cancels an unread body: Deno closes the connection after a response if the request body was neither read nor cancelled. */
export async function cancelBody(request: Request): Promise<void> {
  try {
    if (!request.bodyUsed) await request.body?.cancel()
  } catch {
    // Another handler is reading the body, or has replaced the Request.
  }
}

/** Returns a response that cancels the request body when it is sent. Until then, other handlers can read the body. */
export async function cancelBodyWhenSent(request: Request, response: Response): Promise<Response> {
  if (!response.body || !isUnread(request)) return response
  const bytes = new Uint8Array(await response.arrayBuffer())
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await cancelBody(request)
        controller.enqueue(bytes)
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const sent = new Response(body, response)
  sent.headers.set('Content-Length', String(bytes.byteLength))
  return sent
}

function isUnread(request: Request): boolean {
  try {
    return !request.bodyUsed && request.body !== null
  } catch {
    return false
  }
}
