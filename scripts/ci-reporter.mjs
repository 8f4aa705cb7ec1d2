// Closes a test run with one line that a machine can read: `N passed, N failed`, and `, N skipped` if any were.
// All that makes the run fail counts as failed: tests, hooks and files that threw, and errors nobody caught.
export default class CiReporter {
  onInit(vitest) {
    this.print = (line) => {
      // At the very end, because vitest reports an error of the global set-up only after the run.
      if (vitest.config.watch) console.log(line)
      else process.once('exit', () => console.log(line))
    }
  }

  onTestRunEnd(modules, unhandledErrors, reason) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++
      for (const suite of [module, ...module.children.allSuites()]) {
        if (suite.errors().length > 0) counts.failed++
      }
    }
    // Pending are those whose process died or whose run was interrupted.
    let failed = counts.failed + counts.pending
    // No file was found, or the global set-up threw: nothing ran that could have failed.
    if (reason !== 'passed' && failed === 0) failed = 1
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    this.print(`${counts.passed} passed, ${failed} failed${skipped}`)
  }
}
