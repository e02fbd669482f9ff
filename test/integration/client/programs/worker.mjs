import { callRedirected } from './redirected.mjs'

export default {
  fetch: async (request) => Response.json(await callRedirected(new URL(request.url).searchParams.get('base'))),
}
