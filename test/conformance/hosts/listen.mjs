/** Where to listen: `::` takes IPv4 as well. */
export const HOST = process.env.HOST ?? '127.0.0.1'

/** Tells who started this program that it is ready. */
export function ready(port) {
  console.log(JSON.stringify({ port }))
}

/** Listens with a Node server. */
export function listen(server) {
  server.listen(0, HOST, () => ready(server.address().port))
}
