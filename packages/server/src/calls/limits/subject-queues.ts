import { ApiError } from '@plenum/protocol'
import { LaneQuota } from '../../platform/lane-quota.ts'
import { LaneLimiters } from '../../platform/turns/limiter.ts'

/** The calls that one caller may have running or waiting: each holds its body in memory. */
const maxPerCaller = { maxJobs: 100, maxBytes: 64 * 1024 * 1024 }

/** Runs the calls of a caller that write the same subject, such as an editor, one after the other. */
export class SubjectQueues {
  readonly #quota = new LaneQuota(maxPerCaller)
  readonly #subjects = new LaneLimiters(1)

  async run<T>(lane: string, subject: string, bytes: number, call: () => Promise<T>): Promise<T> {
    if (!this.#quota.add(lane, bytes)) throw tooManyCalls()
    try {
      return await this.#subjects.run(JSON.stringify([lane, subject]), call)
    } finally {
      this.#quota.remove(lane, bytes)
    }
  }
}

const tooManyCalls = () =>
  new ApiError('RESOURCE_EXHAUSTED', 'Too many writes of CRDT data are in progress for this API key.', {
    retryAfterSeconds: 1,
  })
