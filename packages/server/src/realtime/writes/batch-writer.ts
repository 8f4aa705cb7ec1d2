import { type Clock, systemClock } from '../../platform/clock.ts'
import { Limiter } from '../../platform/turns/limiter.ts'
import { whenCertain } from '../../store/engine/certainty.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import { AccessChanged, type Commits, type Sender, maxPause } from '../authorization/commits.ts'

export interface BatchWriterDeps {
  commits: Commits
  database: Pick<Database, 'ping'>
  clock?: Clock
}

/**
 * One kind of write. An item is what one room or one document contributes to a transaction. Order of the calls:
 * `hasWaiting`, `takeItems`, `refuseUnstorable`, `originOf`, `store`, then one of `onStored`, `onAccessChanged` and
 * `onFailed`. `onRecovered` follows `onFailed`.
 */
export interface BatchWork<Item, Result> {
  /** The next tick starts at least this many milliseconds after the last. 0: one tick per iteration of the event loop. */
  readonly tickMs: number
  /** Whether items wait to be stored. */
  hasWaiting(): boolean
  /** Takes the items that one transaction stores. The other items wait for the next tick. */
  takeItems(): readonly Item[]
  /** Refuses or puts back the items that cannot be stored now. Resolves with the other items. */
  refuseUnstorable(items: readonly Item[]): Promise<readonly Item[]>
  /** The API keys and the clients that the items come from. Without an API key, nothing has to be stored. */
  originOf(items: readonly Item[]): { apiKeys: ReadonlySet<string>; senders: readonly Sender[] }
  /** Runs in the transaction, and again if the transaction collides. With `isAlone`, it may wait for a locked row. */
  store(db: Db, items: readonly Item[], isAlone: boolean): Promise<Result>
  /** Nothing was stored, because access has changed. Puts items back, and returns the items to store immediately. */
  onAccessChanged(items: readonly Item[]): readonly Item[]
  /** The rows are durable: acknowledges and broadcasts them. `result` is undefined if nothing had to be stored. */
  onStored(items: readonly Item[], result: Result | undefined): void | Promise<void>
  /** The transaction failed. Whether it was committed is unknown until `onRecovered`. */
  onFailed(items: readonly Item[], error: unknown): void
  /** The database answers again after a failure. */
  onRecovered(items: readonly Item[]): void
}

/** How many items may wait for a locked row at the same time. Each takes a connection to the database. */
const maxStoredAlone = 4

/**
 * Stores what clients send. One transaction per tick stores the items that `takeItems` returns, and their senders are
 * answered once it is durable. Only one tick runs at a time, so the disk sets the pace. Nothing is committed unless all
 * senders may still write.
 */
export class BatchWriter<Item, Result> {
  readonly #deps: BatchWriterDeps
  readonly #work: BatchWork<Item, Result>
  readonly #clock: Clock
  #running: Promise<void> | undefined
  #lastTickAt = -Infinity
  /** Ends the pause before the next tick. Defined during a pause. */
  #skipPause: (() => void) | undefined
  /** How many callers of `idle` wait. Meanwhile, ticks follow each other without pauses. */
  #idleWaiters = 0
  /** The calls of `storeAlone` in progress. */
  readonly #alone = new Set<Promise<void>>()
  readonly #aloneGate = new Limiter(maxStoredAlone)

  constructor(deps: BatchWriterDeps, work: BatchWork<Item, Result>) {
    this.#deps = deps
    this.#work = work
    this.#clock = deps.clock ?? systemClock
  }

  /** Call it when an item waits. */
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

  /** Resolves when no item waits any more. */
  async idle(): Promise<void> {
    this.#idleWaiters++
    this.#skipPause?.()
    while (!this.isIdle) await Promise.all([this.#running, ...this.#alone])
    this.#idleWaiters--
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
    const pauseMs = this.#idleWaiters > 0 ? 0 : this.#lastTickAt + this.#work.tickMs - this.#clock.elapsed()
    await (pauseMs > 1 ? this.#pause(pauseMs) : new Promise((resolve) => setImmediate(resolve)))
    this.#lastTickAt = this.#clock.elapsed()
  }

  async #pause(ms: number): Promise<void> {
    let stopTimer = () => {}
    await new Promise<void>((resolve) => {
      this.#skipPause = resolve
      stopTimer = this.#clock.setTimeout(resolve, ms)
    })
    stopTimer()
    this.#skipPause = undefined
  }

  async #store(taken: readonly Item[], isAlone: boolean): Promise<void> {
    const work = this.#work
    const { commits, database } = this.#deps
    let items = taken
    let result: Result | undefined
    try {
      items = await work.refuseUnstorable(taken)
      const { apiKeys, senders } = work.originOf(items)
      if (apiKeys.size > 0) {
        result = await commits.write(apiKeys, senders, (db) => work.store(db, items, isAlone), {
          limits: maxPause,
        })
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
