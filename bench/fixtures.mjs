/** How many animals each server holds before it is measured. */
export const PETS = 1000

/** Limits that no run reaches, so that every request is counted and served. */
export const LIMITS = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }

/** The animal of that number, counted from 0. */
export const pet = (i) => ({
  name: `Animal number ${i}`,
  categoryId: (i % 7) + 1,
  status: ['available', 'pending', 'sold'][i % 3],
})

/** The text of an animal as the service writes it. */
export const petText = (i) => {
  const { name, categoryId, status } = pet(i)
  return `{"id":${i + 1},"name":"${name}","categoryId":${categoryId},"status":"${status}"}`
}

/** The text of the first animals. */
export const pageText = (count) => `[${Array.from({ length: count }, (_, i) => petText(i)).join(',')}]`

/** Listens on a free port, tells the parent, and answers it with the processor time that was used. */
export function listening(server, token) {
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port, token }))
  process.on('message', () => process.send({ cpu: process.cpuUsage() }))
  process.on('SIGINT', () => process.exit())
}
