import { reactRouter } from '@react-router/dev/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [reactRouter()],
  // Otherwise, Vite's dev server responds to OPTIONS itself.
  server: { cors: { preflightContinue: true } },
})
