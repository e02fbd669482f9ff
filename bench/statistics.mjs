/** Returns the median. For an even number of values, this is the mean of the two in the middle. */
export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle) - 1]) / 2
}

/** Returns a list in random order. */
export const shuffled = (list) =>
  list
    .map((item) => [Math.random(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

/**
 * Compares two servers by their samples (`samples[process][round]`): divides the two samples of each round. Returns the median of
 * these ratios. The middle half of them is from `low` to `high`.
 */
export function ratioOf(samples, base) {
  const ratios = samples.flatMap((rounds, process) => rounds.map((value, round) => value / base[process][round]))
  const sorted = ratios.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.round((sorted.length - 1) * share)]
  return { ratio: median(ratios), low: at(0.25), high: at(0.75) }
}

/** Returns a ratio as text: `1.05 (1.02 to 1.10)`. */
export const ratioText = ({ ratio, low, high }) => `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
