import { ApiError } from '@plenum/protocol'
import { LaneQuota } from '../platform/lane-quota.ts'
import { LaneLimiters } from '../platform/turns/limiter.ts'

/** What one caller may have in progress: each call holds its body in memory. */
const maxPerCaller = { maxJobs: 100, maxBytes: 64 * 1024 * 1024 }

/** Runs the calls of one caller with the same subject one after the other. */
export class SubjectQueues {
  readonly #quota = new LaneQuota(maxPerCaller)
  readonly #subjects = new LaneLimiters(1)

  async take<T>(scope: string, subject: string, bytes: number, run: () => Promise<T>): Promise<T> {
    if (!this.#quota.add(scope, bytes)) throw tooManyCalls()
    try {
      return await this.#subjects.run(JSON.stringify([scope, subject]), run)
    } finally {
      this.#quota.remove(scope, bytes)
    }
  }
}

const tooManyCalls = () =>
  new ApiError('RESOURCE_EXHAUSTED', 'Too many writes of CRDT data are in progress for this API key.', {
    retryAfterSeconds: 1,
  })
