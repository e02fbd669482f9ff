import { distance as distanceOf } from 'fastest-levenshtein'

/** Returns the known name that is most like an unknown one, or `undefined` if none is like it. */
export function similarName(name: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: distanceOf(name.toLowerCase(), candidate.toLowerCase()) }))
    // If more than a third of the letters differ, the names are probably different words.
    .filter(({ distance }) => distance <= name.length / 3)
    .sort((one, other) => one.distance - other.distance)
  return nearest?.candidate
}
