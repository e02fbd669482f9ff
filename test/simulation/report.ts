import type { Finding } from './simulation.ts'

/** Returns a finding as text: the rule, what was expected and received, how to run it again, and the shortest trace. */
export function report({ seed, broken, trace }: Finding): string {
  const lines = trace.map((line, index) => `${String(index + 1).padStart(4)}. ${line}`)
  return [
    broken.message,
    `Run it again: npm run simulate -- --schedules 1 --seed ${seed}`,
    'The shortest trace:',
    ...lines,
  ].join('\n')
}
