import type { NextConfig } from 'next'

const config: NextConfig = {
  // create-next-app sets these two options. The store works with and without them.
  cacheComponents: true,
  partialPrefetching: true,
  // Otherwise, Next.js redirects /v1/pets/ to /v1/pets, so the store never sees the request for /v1/pets/.
  skipTrailingSlashRedirect: true,
}

export default config
