import adapter from '@sveltejs/adapter-node'
import { sveltekit } from '@sveltejs/kit/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [
    sveltekit({
      adapter: adapter(),
      // Turns off SvelteKit's check of form posts from other sites, for the whole app. Otherwise, a form gets 403, not 415.
      csrf: { trustedOrigins: ['*'] },
    }),
  ],
})
