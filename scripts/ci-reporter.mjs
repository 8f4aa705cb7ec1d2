// Ends a test run with one machine-readable line: `N passed, N failed`, and `, N skipped` if tests were skipped.
// Everything that makes the run fail is counted as failed: tests, hooks and files that threw, and unhandled errors.
export default class CiReporter {
  onInit(vitest) {
    this.print = (line) => {
      // At process exit, because vitest reports an error of the global setup only after the run.
      if (vitest.config.watch) console.log(line)
      else process.once('exit', () => console.log(line))
    }
  }

  onTestRunEnd(modules, unhandledErrors, reason) {
    this.#listRepeated(modules)
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++
      for (const suite of [module, ...module.children.allSuites()]) {
        if (suite.errors().length > 0) counts.failed++
      }
    }
    // Pending tests are those whose process died or whose run was interrupted.
    let failed = counts.failed + counts.pending
    // No test file was found, or the global setup threw: no test ran, but the run failed.
    if (reason !== 'passed' && failed === 0) failed = 1
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    this.print(`${counts.passed} passed, ${failed} failed${skipped}`)
  }

  /** Tests that passed only when they ran again: the test or the code has a race, or the machine was too slow for a moment. */
  #listRepeated(modules) {
    const tests = modules.flatMap((module) => Array.from(module.children.allTests('passed')))
    const repeated = tests.filter((test) => test.diagnostic()?.flaky)
    if (repeated.length === 0) return
    this.print('\nPassed only when they ran again:')
    for (const test of repeated) {
      const [error] = test.result().errors ?? []
      this.print(`  ${test.module.relativeModuleId} > ${test.fullName}\n    ${error?.message.split('\n')[0]}`)
    }
  }
}
