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
 * all these ratios. Each process also has its own median: `low` and `high` are the lowest and the highest of these.
 */
export function ratioOf(samples, base) {
  const ratios = samples.map((rounds, process) => rounds.map((value, round) => value / base[process][round]))
  const ofProcesses = ratios.map(median)
  return { ratio: median(ratios.flat()), low: Math.min(...ofProcesses), high: Math.max(...ofProcesses) }
}

/** Returns a ratio as text: `1.05 (1.02 to 1.10)`. */
export const ratioText = ({ ratio, low, high }) => `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
