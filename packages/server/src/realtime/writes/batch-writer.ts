import { type Clock, systemClock } from '../../platform/clock.ts'
import { Limiter } from '../../platform/turns/limiter.ts'
import { whenCertain } from '../../store/engine/certainty.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import { AccessChanged, type Commits, type Sender } from '../authorization/commits.ts'

export interface BatchWriterDeps {
  commits: Commits
  database: Pick<Database, 'ping'>
  clock?: Clock
}

/** One kind of write. An item is what one row or one document contributes to a transaction. */
export interface BatchWork<Item, Result> {
  /** Ticks start at least this many milliseconds apart. 0: one tick per iteration of the event loop. */
  readonly tickMs: number
  /** Whether `takeItems` would return something. */
  hasWaiting(): boolean
  /** Takes what one transaction stores. The rest waits for the next tick. */
  takeItems(): readonly Item[]
  /** Runs before the transaction. Refuses or puts back the items that cannot be stored now, and returns the others. */
  admit(items: readonly Item[]): Promise<readonly Item[]>
  /** The API keys and the clients that the items come from. Without a key nothing has to be stored. */
  originOf(items: readonly Item[]): { apiKeys: ReadonlySet<string>; senders: readonly Sender[] }
  /** Runs in the transaction, and again when the transaction collides. `isAlone`: may wait for a locked row. */
  store(db: Db, items: readonly Item[], isAlone: boolean): Promise<Result>
  /** Nothing is stored, because a sender lost access. Puts items back, and returns those to store at once. */
  onAccessChanged(items: readonly Item[]): readonly Item[]
  /** The rows are durable: acknowledges and broadcasts them. `result` is undefined if nothing had to be stored. */
  onStored(items: readonly Item[], result: Result | undefined): void | Promise<void>
  /** The transaction failed. Whether it was committed is unknown until `onRecovered`. */
  onFailed(items: readonly Item[], error: unknown): void
  /** The database answers again after a failure. */
  onRecovered(items: readonly Item[]): void
}

/** Items that wait for a locked row at the same time. Each takes a connection to the database. */
const maxStoredAlone = 4

/**
 * Stores what clients send, in one transaction per tick for all that waits, and answers once it is durable. One tick at a
 * time, so the disk sets the pace. Nothing is committed unless all senders may still write.
 */
export class BatchWriter<Item, Result> {
  readonly #deps: BatchWriterDeps
  readonly #work: BatchWork<Item, Result>
  readonly #clock: Clock
  #running: Promise<void> | undefined
  #lastTickAt = -Infinity
  #endPause: (() => void) | undefined
  /** How many callers wait until nothing is left. They do not wait for the pace. */
  #drains = 0
  readonly #alone = new Set<Promise<void>>()
  readonly #aloneGate = new Limiter(maxStoredAlone)

  constructor(deps: BatchWriterDeps, work: BatchWork<Item, Result>) {
    this.#deps = deps
    this.#work = work
    this.#clock = deps.clock ?? systemClock
  }

  /** Call it when something waits. */
  wake(): void {
    if (this.#running === undefined && this.#work.hasWaiting()) this.#running = this.#run()
  }

  /** Stores an item by itself because another transaction holds its row. Other items do not wait for it. */
  storeAlone(item: Item, apiKey: string): Promise<void> {
    const stored = this.#aloneGate
      .run(apiKey, () => this.#store([item], true))
      .finally(() => this.#alone.delete(stored))
    this.#alone.add(stored)
    return stored
  }

  /** Resolves when nothing waits any more. Until then ticks follow each other without pauses. */
  async idle(): Promise<void> {
    this.#drains++
    this.#endPause?.()
    while (!this.isIdle) await Promise.all([this.#running, ...this.#alone])
    this.#drains--
  }

  get isIdle(): boolean {
    return this.#running === undefined && this.#alone.size === 0
  }

  async #run(): Promise<void> {
    while (this.#work.hasWaiting()) {
      await this.#nextTick()
      await this.#store(this.#work.takeItems(), false)
    }
    this.#running = undefined
  }

  async #nextTick(): Promise<void> {
    const pauseMs = this.#drains > 0 ? 0 : this.#lastTickAt + this.#work.tickMs - this.#clock.elapsed()
    await (pauseMs > 1 ? this.#pause(pauseMs) : new Promise((resolve) => setImmediate(resolve)))
    this.#lastTickAt = this.#clock.elapsed()
  }

  async #pause(ms: number): Promise<void> {
    let stopTimer = () => {}
    await new Promise<void>((resolve) => {
      this.#endPause = resolve
      stopTimer = this.#clock.setTimeout(resolve, ms)
    })
    stopTimer()
    this.#endPause = undefined
  }

  async #store(taken: readonly Item[], isAlone: boolean): Promise<void> {
    const work = this.#work
    const { commits, database } = this.#deps
    let items = taken
    let result: Result | undefined
    try {
      items = await work.admit(taken)
      const { apiKeys, senders } = work.originOf(items)
      if (apiKeys.size > 0) {
        result = await commits.write(apiKeys, senders, (db) => work.store(db, items, isAlone))
      }
    } catch (error) {
      if (error instanceof AccessChanged) return this.#store(work.onAccessChanged(items), isAlone)
      work.onFailed(items, error)
      void whenCertain(database).then(() => work.onRecovered(items))
      return
    }
    await work.onStored(items, result)
  }
}
