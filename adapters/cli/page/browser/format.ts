/** Returns a text such as `1 request` or `1,000 requests`. */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** Returns a text such as `0:07`, `4:59` or `21 h 38 min`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000))
  const minutes = Math.floor(seconds / 60)
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `${minutes}:${String(seconds % 60).padStart(2, '0')}`
}

/** Returns a time in the visitor's time zone, such as `12:03:04 UTC`. */
export function timeOfDay(time: number): string {
  return new Date(time).toLocaleTimeString('en-GB', { timeZoneName: 'short' })
}

/** The longest name that the page shows in full, in characters. */
const LONGEST = 60

/** Never splits a surrogate pair. */
export function shortened(name: string): string {
  const characters = [...name.slice(0, 2 * LONGEST + 2)]
  return characters.length <= LONGEST ? name : `${characters.slice(0, LONGEST).join('')}…`
}
