import { type RunnerTask, TestRunner } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Says which program the test or suite lacked. */
    missing?: string
  }
}

/** Skips a task whose only errors say that a program is missing (`services/programs.ts`). */
function skipIfProgramIsMissing(task: RunnerTask): void {
  const { errors = [], ...result } = task.result ?? {}
  const [first] = errors
  if (!first || errors.some(({ name }) => name !== 'MissingProgram')) return
  task.meta.missing = first.message
  // `pending` is what `context.skip` sets.
  task.result = Object.assign(result, { state: 'skip' as const, pending: true })
}

/** Skips the tests whose program is missing. `scripts/test-reporter.mjs` says so, and counts the run as failed. */
export default class Runner extends TestRunner {
  onTaskFinished(test: RunnerTask): void {
    skipIfProgramIsMissing(test)
  }

  override async onAfterRunSuite(...[suite]: Parameters<TestRunner['onAfterRunSuite']>): Promise<void> {
    skipIfProgramIsMissing(suite)
    await super.onAfterRunSuite(suite)
  }
}
