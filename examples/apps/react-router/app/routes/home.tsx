import { useLoaderData } from 'react-router'
import { backEnd } from '../pet-store.server'

export async function loader() {
  const pets = await backEnd.storage.list({ limit: 3 })
  return { names: pets.map(({ name }) => name) }
}

export default function Home() {
  const { names } = useLoaderData<typeof loader>()
  return <p>{`The shop itself has ${names.join(', ')}`}</p>
}
