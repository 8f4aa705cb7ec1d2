import { LaneQueue } from '../../platform/turns/lane-queue.ts'
import { isLoopLate } from '../../platform/turns/loop-time.ts'

/** One after the other, lane by lane. Many short turns in a row let the event loop do other things in between. */
export class Turns {
  #taken = false
  readonly #waiting = new LaneQueue<() => void>()

  async take<T>(work: () => Promise<T>, lane = ''): Promise<T> {
    if (this.#taken) await new Promise<void>((resolve) => this.#waiting.add(lane, resolve))
    this.#taken = true
    try {
      return await work()
    } finally {
      const next = this.#waiting.take()
      if (!next) this.#taken = false
      else if (isLoopLate()) setImmediate(next)
      else next()
    }
  }
}

/** Turns for each lane; lanes do not wait for each other. */
export class Lanes {
  readonly #lanes = new Map<string, { turns: Turns; users: number }>()

  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(name) ?? { turns: new Turns(), users: 0 }
    this.#lanes.set(name, lane)
    lane.users++
    try {
      return await lane.turns.take(work)
    } finally {
      if (--lane.users === 0) this.#lanes.delete(name)
    }
  }
}
