import { LaneQueue } from './lane-queue.ts'

/** Lets so many in at a time; the others wait, for as long as it takes. Tenants take turns, and the lanes of a tenant do. */
export class Gate {
  readonly #tenants = new LaneQueue<string>()
  /** Who waits, by tenant. */
  readonly #waiting = new Map<string, LaneQueue<() => void>>()
  #free: number

  constructor(most: number) {
    this.#free = most
  }

  async pass<T>(tenant: string, work: () => Promise<T>, lane = ''): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#wait(tenant, lane)
    try {
      return await work()
    } finally {
      const next = this.#next()
      // On SQLite nothing else would have its turn before all of them are through.
      if (next) setImmediate(next)
      else this.#free++
    }
  }

  #wait(tenant: string, lane: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(tenant) ?? new LaneQueue()
      this.#waiting.set(tenant, waiting)
      waiting.add(lane, resolve)
      this.#tenants.add(tenant, tenant)
    })
  }

  #next(): (() => void) | undefined {
    const tenant = this.#tenants.take()
    if (tenant === undefined) return undefined
    const waiting = this.#waiting.get(tenant)
    const next = waiting?.take()
    if (waiting?.isEmpty) this.#waiting.delete(tenant)
    return next
  }
}
