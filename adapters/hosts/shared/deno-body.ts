/** Deno closes the connection behind the answer to a body that nobody has read, but not where that was cancelled. */
export async function letBodyPass(request: Request): Promise<void> {
  try {
    if (!request.bodyUsed) await request.body?.cancel()
  } catch {
    // A host is reading it, or what it has handed over is no Request of Deno's.
  }
}

/** The same answer, at whose sending the body passes: of one that is thrown away, a host may still read the body. */
export async function letBodyPassWhenSent(request: Request, response: Response): Promise<Response> {
  if (!response.body || !isUnread(request)) return response
  const bytes = new Uint8Array(await response.arrayBuffer())
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await letBodyPass(request)
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
