import { createHousekeeping } from '../../../src/jobs/housekeeping.ts'
import { createLog } from '../../../src/platform/log/log.ts'
import { createMetrics } from '../../../src/platform/metrics/metrics.ts'
import { SteppedClock } from '../clock.ts'
import type { TestServer } from '../harness.ts'

/** Deletes what has expired in this many milliseconds, as a server does every hour. */
export const runHousekeeping = (
  { database }: Pick<TestServer, 'database'>,
  afterMs: number,
  { eventRetentionDays = 30 } = {},
) =>
  createHousekeeping({
    database,
    log: createLog('silent', { write: () => {} }),
    clock: new SteppedClock(Date.now() + afterMs),
    observe: createMetrics().job,
    eventRetentionDays,
  }).run()
