import type { NextConfig } from 'next'

const config: NextConfig = {
  // As create-next-app writes them. The store works with and without them.
  cacheComponents: true,
  partialPrefetching: true,
  // Otherwise, Next.js redirects /v1/pets/ to /v1/pets, and the store cannot respond to it itself.
  skipTrailingSlashRedirect: true,
}

export default config
