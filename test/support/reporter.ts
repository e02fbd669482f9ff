import { MinimalReporter, type TestModule } from 'vitest/node'

/** Prints failed tests with their output, a summary, and why tests of a contract suite did not apply. */
export default class Reporter extends MinimalReporter {
  override onTestRunEnd(...[modules, errors, reason]: Parameters<MinimalReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(modules, errors, reason)
    for (const note of new Set(modules.flatMap(notes))) this.log(`Skipped: ${note}.`)
  }
}

function notes(module: TestModule): string[] {
  return [...module.children.allTests('skipped')].flatMap((test) => {
    const result = test.result()
    return result.state === 'skipped' && result.note ? [`tests in ${module.relativeModuleId}: ${result.note}`] : []
  })
}
