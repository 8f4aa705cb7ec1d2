import type { Deletions } from '../access/deletions.ts'
import type { Bus } from '../bus.ts'
import type { Database } from '../store/engine/db.ts'
import type { HandlerServices } from './call.ts'
import type { Idempotency } from './idempotency.ts'
import type { RateLimits } from './rate-limits.ts'
import type { SubjectQueues } from './subject-queues.ts'

/** Everything that running a call needs. `server.ts` builds it once and passes it on whole. */
export interface Services extends HandlerServices {
  readonly database: Database
  readonly bus: Bus
  readonly deletions: Deletions
  readonly idempotency: Idempotency
  readonly subjectQueues: SubjectQueues
  readonly rateLimits: RateLimits
  /** Starts the job runner; called after a job was committed. */
  readonly wakeJobs: () => void
  /** Waits for commits under way whose live client has lost access. Returns undefined if there are none to wait for. */
  readonly whenRevokedCommitsEnded: (apiKey: string) => Promise<unknown> | undefined
}
