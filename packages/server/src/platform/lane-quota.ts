interface Usage {
  jobs: number
  bytes: number
}

/** Limits what each lane has in progress: the number of its jobs, and the bytes that they hold together. */
export class LaneQuota {
  readonly #maxJobs: number
  readonly #maxBytes: number
  /** Lanes with jobs in progress. */
  readonly #lanes = new Map<string, Usage>()

  constructor({ maxJobs, maxBytes }: { maxJobs: number; maxBytes: number }) {
    this.#maxJobs = maxJobs
    this.#maxBytes = maxBytes
  }

  /**
   * Adds a job. Returns false, and adds nothing, if the lane has too much in progress. The only job of a lane may have any
   * size.
   */
  add(lane: string, bytes: number): boolean {
    const usage = this.#lanes.get(lane)
    if (!usage) {
      this.#lanes.set(lane, { jobs: 1, bytes })
      return true
    }
    if (usage.jobs >= this.#maxJobs || usage.bytes + bytes > this.#maxBytes) return false
    usage.jobs++
    usage.bytes += bytes
    return true
  }

  /** Removes a job. Call it once for each job that was added, with the same bytes. */
  remove(lane: string, bytes: number): void {
    const usage = this.#lanes.get(lane)
    if (!usage) return
    usage.jobs--
    usage.bytes -= bytes
    if (usage.jobs === 0) this.#lanes.delete(lane)
  }
}
