import { ApiError } from '@plenum/protocol'
import { Lanes } from '../store/engine/turns.ts'

/** What one caller may have in progress: each call holds its body in memory. */
const maxPerCaller = { calls: 100, bytes: 64 * 1024 * 1024 }

interface Caller {
  calls: number
  bytes: number
  /** Calls about the same subject take turns. */
  subjects: Lanes
}

/** Calls of one caller about the same subject run one after the other. */
export class SubjectQueues {
  readonly #callers = new Map<string, Caller>()

  async take<T>(scope: string, subject: string, bytes: number, run: () => Promise<T>): Promise<T> {
    const caller = this.#callers.get(scope) ?? { calls: 0, bytes: 0, subjects: new Lanes() }
    // The first call is taken however large it is.
    const isFull = caller.calls >= maxPerCaller.calls || caller.bytes + bytes > maxPerCaller.bytes
    if (caller.calls > 0 && isFull) throw tooManyCalls()
    this.#callers.set(scope, caller)
    caller.calls++
    caller.bytes += bytes
    try {
      return await caller.subjects.take(subject, run)
    } finally {
      caller.calls--
      caller.bytes -= bytes
      if (caller.calls === 0) this.#callers.delete(scope)
    }
  }
}

const tooManyCalls = () =>
  new ApiError('RESOURCE_EXHAUSTED', 'Too many writes of CRDT data are in progress for this API key.', {
    retryAfterSeconds: 1,
  })
