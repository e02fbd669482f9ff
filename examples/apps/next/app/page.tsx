import { connection } from 'next/server'
import { Suspense } from 'react'
import { backEnd } from '../lib/pet-store'

export default function Page() {
  return (
    <Suspense>
      <Animals />
    </Suspense>
  )
}

async function Animals() {
  await connection() // reads the animals for each request, not while the app is built
  const pets = await backEnd.storage.list({ limit: 3 })
  return <p>{`The shop itself has ${pets.map(({ name }) => name).join(', ')}`}</p>
}
