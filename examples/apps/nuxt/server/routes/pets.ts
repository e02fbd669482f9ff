export default defineEventHandler(async () => {
  const pets = await backEnd.storage.list({ limit: 3 })
  return pets.map(({ name }) => name)
})
