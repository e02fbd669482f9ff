// Astro's server ends at SIGTERM without waiting for running requests. This one waits.
process.env.ASTRO_NODE_AUTOSTART = 'disabled'
const { startServer } = await import('./dist/server/entry.mjs')
const { server } = startServer()
process.once('SIGTERM', () => server.server.close())
