import type { LargeDeletions } from '../deletions/large-deletions.ts'
import type { Bus } from '../bus.ts'
import type { Signals } from '../peers/signals.ts'
import type { Database } from '../store/engine/db.ts'
import type { HandlerServices } from './call.ts'
import type { Idempotency } from './idempotency.ts'
import type { InProgress } from '../platform/turns/in-progress.ts'
import type { RateLimits } from './limits/rate-limits.ts'
import type { SubjectQueues } from './limits/subject-queues.ts'

/** Everything that running a call needs. `server.ts` builds it once. */
export interface Services extends HandlerServices {
  readonly database: Database
  readonly bus: Bus
  readonly signals: Signals
  readonly deletions: LargeDeletions
  readonly idempotency: Idempotency
  readonly subjectQueues: SubjectQueues
  readonly rateLimits: RateLimits
  /** The reads that are in progress, until their answers are sent. */
  readonly reads: InProgress
  /** Waits for commits under way whose sender has lost access. Returns undefined if no commit of the API key is under way. */
  readonly whenRevokedCommitsEnded: (apiKey: string) => Promise<unknown> | undefined
}
