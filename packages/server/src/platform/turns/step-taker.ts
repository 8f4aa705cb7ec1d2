import type { WorkOwner } from './fair-queue.ts'
import type { FairTurns, TurnTaker } from './fair-turns.ts'

/** Work in small steps, as a generator: it goes on after each `yield` when it has a turn. */
export class StepTaker implements TurnTaker {
  readonly owner: WorkOwner
  readonly #steps: Iterator<unknown>
  readonly #onError: (error: unknown) => void

  constructor(owner: WorkOwner, steps: Iterator<unknown>, onError: (error: unknown) => void) {
    this.owner = owner
    this.#steps = steps
    this.#onError = onError
  }

  run(deadline: number): boolean {
    try {
      do if (this.#steps.next().done) return false
      while (performance.now() < deadline)
      return true
    } catch (error) {
      this.#onError(error)
      return false
    }
  }
}

/** Does it when it has a turn; resolves with it, or fails with it. */
export function whenItsTurn(turns: FairTurns, owner: WorkOwner, work: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const run = () => {
      try {
        resolve(work())
      } catch (error) {
        reject(error)
      }
      return false
    }
    turns.add({ owner, run })
  })
}
