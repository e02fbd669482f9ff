import type { NextConfig } from 'next'

const config: NextConfig = {
  // create-next-app sets these two options. The store works with and without them.
  cacheComponents: true,
  partialPrefetching: true,
  // Otherwise, Next.js redirects /v1/pets/ to /v1/pets, and the store cannot respond to it itself.
  skipTrailingSlashRedirect: true,
}

export default config
