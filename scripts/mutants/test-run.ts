import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'

/** One test of a run. */
export interface TestResult {
  /** The path of its file, from the folder of the run. */
  file: string
  /** With the titles of the groups around it. */
  title: string
  /** The first line of the error. Undefined: the test passed. */
  error: string | undefined
}

/** The part of the report of vitest's JSON reporter that is used here. */
interface Report {
  testResults: {
    name: string
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[]
  }[]
}

interface TestRun {
  files: readonly string[]
  /** Only tests whose titles contain one of these parts are run. */
  titles: readonly string[]
  /** Whether the run ends with the first test that fails. */
  endsWithFailure: boolean
}

/** Runs tests of a source folder with vitest. */
export class Tests {
  readonly #source: string
  readonly #temporary: string
  #running: ChildProcess | undefined

  /** `temporary` is the folder for temporary files. */
  constructor(source: string, temporary: string) {
    this.#source = source
    this.#temporary = temporary
  }

  /** Returns the tests that passed or failed, and what vitest printed. A test that could not be started is left out. */
  async run({ files, titles, endsWithFailure }: TestRun): Promise<{ results: TestResult[]; output: string }> {
    const report = join(this.#temporary, 'report.json')
    const child = spawn(
      process.execPath,
      [
        'node_modules/vitest/vitest.mjs',
        'run',
        ...files,
        `--testNamePattern=${titles.map(escapeRegExp).join('|')}`,
        '--retry=0',
        `--bail=${endsWithFailure ? 1 : 0}`,
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
      ],
      {
        cwd: this.#source,
        env: { ...process.env, TMPDIR: this.#temporary },
        stdio: ['ignore', 'pipe', 'pipe'],
        // A group of its own: Ctrl-C in a terminal reaches only this program, which then stops the group.
        detached: true,
      },
    )
    this.#running = child
    const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    this.#running = undefined
    const results = this.#read(report)
    rmSync(report, { force: true })
    return { results, output: printed + errors }
  }

  /** Ends the run in progress, with all its processes. PostgreSQL ends by itself when the process that started it is gone. */
  stop(): void {
    if (this.#running?.pid !== undefined) process.kill(-this.#running.pid, 'SIGKILL')
  }

  #read(report: string): TestResult[] {
    let read: Report
    try {
      read = JSON.parse(readFileSync(report, 'utf8')) as Report
    } catch {
      // The run ended before it wrote its report.
      return []
    }
    return read.testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === 'passed' || status === 'failed')
        .map(({ status, fullName, failureMessages: [message = ''] }) => ({
          file: relative(this.#source, name),
          title: fullName,
          error: status === 'passed' ? undefined : (message.split('\n')[0] ?? ''),
        })),
    )
  }
}

const escapeRegExp = (part: string) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
