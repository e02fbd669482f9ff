/** The address to listen on. `::` accepts IPv4 too. */
export const HOST = process.env.HOST ?? '127.0.0.1'

/** Prints the port for the process that started this program. */
export function ready(port) {
  console.log(JSON.stringify({ port }))
}

/** Listens with a Node server. */
export function listen(server) {
  server.listen(0, HOST, () => ready(server.address().port))
}
