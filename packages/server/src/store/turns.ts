/** One after the other, in the order of asking. */
export class Turns {
  #taken = false
  readonly #waiting: (() => void)[] = []

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#taken = true
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#taken = false
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
