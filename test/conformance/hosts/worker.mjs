import { toFetch } from './fixtures.mjs'

export default { fetch: toFetch(({ petStore }) => petStore.fetch) }
