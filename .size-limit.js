/** The chunks of dist import each other for the order of their evaluation only. esbuild would warn that it leaves these imports out. */
function modifyEsbuildConfig(config) {
  return { ...config, logOverride: { 'ignored-bare-import': 'silent' } }
}

export default [
  {
    name: 'the core with its back end in memory, for a browser or an edge runtime',
    path: 'dist/index.js',
    import: '{ createPetStore }',
    gzip: true,
    limit: '44 kB',
    modifyEsbuildConfig,
  },
  {
    name: 'the client, with all of its exports',
    path: 'dist/client.js',
    gzip: true,
    limit: '13 kB',
    modifyEsbuildConfig,
  },
]
