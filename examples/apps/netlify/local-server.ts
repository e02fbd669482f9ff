// Runs the function on this machine, with the paths and the address that Netlify would pass.
import type { ServerRequest } from 'srvx'
import shop from './netlify/functions/shop.mts'

export default {
  fetch(request: ServerRequest) {
    const { pathname } = new URL(request.url)
    if (pathname !== '/' && !/^\/v1(?:\/|$)/.test(pathname)) return new Response('Not found', { status: 404 })
    return shop(request, { ip: request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() ?? '127.0.0.1' })
  },
}
