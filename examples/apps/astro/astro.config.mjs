import node from '@astrojs/node'
import { defineConfig } from 'astro/config'

export default defineConfig({
  output: 'server',
  adapter: node({ mode: 'standalone' }),
  // Turns off Astro's check of form posts from other sites, for the whole app. Otherwise, a form gets 403, not 415.
  security: { checkOrigin: false },
  // Otherwise, Vite's dev server responds to OPTIONS itself.
  vite: { server: { cors: { preflightContinue: true } } },
})
