/**
 * Ends a test run with what a reader needs next: for each failed test the rules that it checks and the command that runs it
 * alone, the slowest files, the programs that were missing, and one machine-readable line: `N passed, N failed`, and
 * `, N skipped` if tests were skipped.
 */
import { readFileSync } from 'node:fs'

const slowestFiles = 10
const citation = /\[(\d+(?:\.\d+)*|[A-Z]\d+(?:\.\d+)*)\]/g

export default class TestReporter {
  #lines = []

  onInit(vitest) {
    this.print = (line) => {
      if (vitest.config.watch) console.log(line)
      else this.#lines.push(line)
    }
    // At process exit, because vitest reports an error of the global setup only after the run.
    process.once('exit', () => this.#lines.forEach((line) => console.log(line)))
  }

  onTestRunEnd(modules, unhandledErrors, reason) {
    const tests = modules.flatMap((module) => Array.from(module.children.allTests()))
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()])
    this.#explain(tests.filter((test) => test.result().state === 'failed'))
    this.#listRepeated(tests)
    this.#listSlowest(modules)
    const missing = this.#listMissing(tests, suites)
    // Everything that makes the run fail is counted: tests, hooks and files that threw, and unhandled errors.
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 }
    for (const test of tests) counts[test.result().state]++
    for (const suite of suites) if (suite.errors().length > 0) counts.failed++
    // Pending tests are those whose process died or whose run was interrupted.
    let failed = counts.failed + counts.pending + missing
    // No test file was found, or the global setup threw: no test ran, but the run failed.
    if (reason !== 'passed' && failed === 0) failed = 1
    if (missing > 0) process.once('exit', () => (process.exitCode ||= 1))
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
    this.print(`${counts.passed} passed, ${failed} failed${skipped}`)
  }

  /** Prints for each failed test what it promises, in the words of docs/spec.md, and how to run it alone. */
  #explain(failed) {
    if (failed.length === 0) return
    const rules = readRules()
    const seed = process.env.TEST_SEED === undefined ? '' : `TEST_SEED=${process.env.TEST_SEED} `
    for (const test of failed) {
      const file = test.module.relativeModuleId
      this.print(`\nFailed: ${test.fullName}`)
      for (const [, rule] of test.name.matchAll(citation))
        if (rules.has(rule)) this.print(`  ${rule}: ${rules.get(rule)}`)
      this.print(`  To run it alone: ${seed}npm test -- ${file} -t '${pattern(test.fullName)}'`)
    }
  }

  /** Tests that passed only when they ran again: the test or the code has a race, or the test asserts too much. */
  #listRepeated(tests) {
    const repeated = tests.filter((test) => test.result().state === 'passed' && test.diagnostic()?.flaky)
    if (repeated.length === 0) return
    this.print('\nPassed only when they ran again:')
    for (const test of repeated) {
      const [error] = test.result().errors ?? []
      this.print(`  ${test.module.relativeModuleId} > ${test.fullName}\n    ${error?.message.split('\n')[0]}`)
    }
  }

  #listSlowest(modules) {
    const durations = modules.map((module) => ({
      file: module.relativeModuleId,
      ms: module.diagnostic().duration,
    }))
    const slowest = durations.toSorted((one, other) => other.ms - one.ms).slice(0, slowestFiles)
    if (slowest.length < slowestFiles) return
    this.print(`\nThe ${slowestFiles} slowest files:`)
    for (const { file, ms } of slowest) this.print(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`)
    this.print('')
  }

  /** Says which programs were missing. Returns how many. */
  #listMissing(tests, suites) {
    const tasks = [...tests, ...suites.filter(({ type }) => type === 'suite')]
    const missing = [...new Set(tasks.map((task) => task.meta().missing))].filter(Boolean)
    for (const sentence of missing)
      this.print(
        `\n${sentence} The tests that need it were skipped, and all others ran. The run counts as failed.`,
      )
    return missing.length
  }
}

/** The rules of docs/spec.md by their number. */
function readRules() {
  const spec = readFileSync(new URL('../docs/spec.md', import.meta.url), 'utf8')
  const rows = spec.matchAll(/^\|\s*(\d+(?:\.\d+)*|[A-Z]\d+(?:\.\d+)*)\s*\|\s*(.*?)\s*\|\s*$/gm)
  return new Map(Array.from(rows, ([, rule, text]) => [rule, text]))
}

/** A regular expression that matches the title, in single quotes of a shell. Quotes match any character. */
const pattern = (title) =>
  title
    .replaceAll(' > ', ' ')
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
    .replaceAll(/['"`]/g, '.')
