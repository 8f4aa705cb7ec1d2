import { Limiter } from '../platform/turns/limiter.ts'
import type { Lane } from '../store/jobs.ts'

interface LaneRun {
  /** Whether the lane may have work that no turn has looked for yet. */
  hasWork: boolean
  ended: Promise<void>
}

/**
 * Gives turns to lanes that have work. A lane has one turn at a time. After it, the lane waits behind the other API keys and the
 * other lanes of its key, until a turn finds no more work. So a lane with much or slow work delays no other lane.
 */
export class LaneTurns {
  readonly #takeTurn: (lane: Lane) => Promise<boolean>
  readonly #limiter: Limiter
  /** The lanes that have a turn or wait for one. */
  readonly #runs = new Map<string, LaneRun>()

  /** `takeTurn` does one piece of work of the lane. It returns false if there is none, and must not throw. */
  constructor(maxConcurrentLanes: number, takeTurn: (lane: Lane) => Promise<boolean>) {
    this.#limiter = new Limiter(maxConcurrentLanes)
    this.#takeTurn = takeTurn
  }

  /** Call it when the lane may have new work. */
  add(lane: Lane): void {
    const id = JSON.stringify([lane.apiKey, lane.lane])
    const known = this.#runs.get(id)
    if (known) known.hasWork = true
    else {
      const run: LaneRun = { hasWork: true, ended: Promise.resolve() }
      this.#runs.set(id, run)
      run.ended = this.#run(lane, run).finally(() => this.#runs.delete(id))
    }
  }

  /** Resolves when no lane has work. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all([...this.#runs.values()].map(({ ended }) => ended))
  }

  async #run(lane: Lane, run: LaneRun): Promise<void> {
    while (run.hasWork) {
      run.hasWork = false
      const foundWork = await this.#limiter.run(lane.apiKey, () => this.#takeTurn(lane), lane.lane)
      run.hasWork ||= foundWork
    }
  }
}
