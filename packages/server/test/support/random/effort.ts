import type { TestContext } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    counts?: Record<string, number>
  }
}

/** `npm run soak` sets TEST_EFFORT to multiply the rounds of tests that are random or kill a server. */
const effort = Number(process.env.TEST_EFFORT ?? 1)

/** The number of rounds in this run, given the number in `npm test`. */
export const rounds = (inTests: number): number => Math.ceil(inTests * effort)

/** Reports what a test counted. `npm run soak` shows the sums. */
export function reportCounts({ task }: Pick<TestContext, 'task'>, counts: Record<string, number>): void {
  task.meta.counts = counts
}
