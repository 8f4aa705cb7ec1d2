import { ApiError } from '@plenum/protocol'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { groupBy } from '../../platform/group-by.ts'
import { LaneQueue } from '../../platform/turns/lane-queue.ts'
import type { CombinedWork, Db, Outcome, TransactionLimits } from './db.ts'
import { isCancelled, isCollision, isTimeout, isUnavailable } from './failures.ts'

/** An open transaction, in which several works may run one after the other. */
export interface OpenTransaction {
  /** Runs one work. Its `db` throws when it is used after the work is done. */
  run<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** How many statements that may write have been sent. */
  readonly writeCount: number
}

/**
 * Runs `works` in one transaction and resolves when it is durable. Runs it again after a collision. With `isShared`, it fails
 * after a few collisions, and when a statement has waited for a lock for `maxLockWaitMs`.
 */
export type Transact = <T>(
  works: (transaction: OpenTransaction) => Promise<T>,
  lane: string,
  options?: { isShared?: boolean; limits?: TransactionLimits | undefined },
) => Promise<T>

/** A work that waits longer for a lock runs in a transaction of its own, so that the others do not wait with it. */
export const maxLockWaitMs = 100

export interface GroupWriterOptions {
  /** Whether the works of different lanes share a transaction. If not, each lane has its own transactions. */
  lanesShare: boolean
  /** Whether a transaction that began `ms` ago leaves its other works to the next one. */
  isLong: (ms: number) => boolean
  clock?: Clock | undefined
}

type Work = (db: Db) => Promise<unknown>

interface Waiting {
  /** The work, or the item of a combined work. */
  item: unknown
  combined: CombinedWork<unknown, unknown> | undefined
  lane: string
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/** One transaction runs at most this many works. It usually ends earlier, because it has run for long. */
const maxWorks = 256
/** Works that arrive while a transaction runs wait for its end, but no longer than this. */
const maxWaitMs = 50

/**
 * Runs short works together in one transaction: all that arrive in one iteration of the event loop, or while the transaction
 * before runs. Beginning and committing one costs more than a work, and works that change the same row do not collide.
 * Callers are answered after the commit.
 */
export class GroupWriter {
  readonly #transact: Transact
  readonly #options: GroupWriterOptions
  /** The queues that have works, by lane. With `lanesShare` there is only one. */
  readonly #queues = new Map<string, GroupQueue>()

  constructor(transact: Transact, options: GroupWriterOptions) {
    this.#transact = transact
    this.#options = options
  }

  write<T>(work: (db: Db) => Promise<T>, lane: string): Promise<T> {
    return this.#add(work, undefined, lane)
  }

  writeCombined<Item, T>(combined: CombinedWork<Item, T>, item: Item, lane: string): Promise<T> {
    return this.#add(item, combined, lane)
  }

  #add<T>(item: unknown, combined: Waiting['combined'], lane: string): Promise<T> {
    const name = this.#options.lanesShare ? '' : lane
    let queue = this.#queues.get(name)
    if (!queue) {
      queue = new GroupQueue(this.#transact, name, this.#options, () => this.#queues.delete(name))
      this.#queues.set(name, queue)
    }
    return queue.add(item, combined, lane)
  }
}

/**
 * A work failed, and the transaction must be rolled back. Each work then runs in a transaction of its own. Not thrown for a
 * single work that refuses its request before it writes.
 */
class FailedInGroup extends Error {
  /** The work whose statement took too long. It is not tried again. */
  readonly slow: Waiting | undefined

  constructor(cause: unknown, slow?: Waiting) {
    super('A work of a shared transaction failed.', { cause })
    this.slow = slow
  }
}

class GroupQueue {
  readonly #transact: Transact
  readonly #name: string
  readonly #options: GroupWriterOptions
  readonly #onEmpty: () => void
  readonly #waiting = new LaneQueue<Waiting>()
  /** Works that earlier transactions left: there was no time, or a combined work left them. They run first. */
  #left: Waiting[] = []
  /** Whether a transaction runs for which the works that arrive wait. */
  #isBusy = false
  /** How many transactions run. */
  #running = 0

  constructor(transact: Transact, name: string, options: GroupWriterOptions, onEmpty: () => void) {
    this.#transact = transact
    this.#name = name
    this.#options = options
    this.#onEmpty = onEmpty
  }

  add<T>(item: unknown, combined: Waiting['combined'], lane: string): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(lane, { item, combined, lane, resolve, reject })
      this.#wake()
    })
  }

  get #isEmpty(): boolean {
    return this.#waiting.isEmpty && this.#left.length === 0
  }

  #wake(): void {
    if (this.#isBusy) return
    if (!this.#isEmpty) {
      this.#isBusy = true
      setImmediate(() => void this.#runNext())
    } else if (this.#running === 0) this.#onEmpty()
  }

  async #runNext(): Promise<void> {
    const group = this.#left.splice(0)
    for (let next; group.length < maxWorks && (next = this.#waiting.take());) group.push(next)
    this.#running++
    let isAwaited = true
    const stopWaiting = () => {
      if (!isAwaited) return
      isAwaited = false
      this.#isBusy = false
      this.#wake()
    }
    const stopTimer = (this.#options.clock ?? systemClock).setTimeout(stopWaiting, maxWaitMs)
    await this.#runTogether(group)
    stopTimer()
    this.#running--
    stopWaiting()
    this.#wake()
  }

  async #runTogether(taken: readonly Waiting[]): Promise<void> {
    const [first] = taken as [Waiting]
    if (taken.length === 1) return this.#runAlone(first)
    let group = taken
    try {
      const works = async (transaction: OpenTransaction) => {
        const outcomes = await this.#runAll(transaction, group)
        // Works without an outcome go back now, so that they need not wait until this transaction is durable.
        this.#left.push(...group.filter((one) => !outcomes.has(one)))
        this.#wake()
        group = [...outcomes.keys()]
        return outcomes
      }
      const outcomes = await this.#transact(works, this.#name, { isShared: true })
      for (const [one, outcome] of outcomes) {
        if ('error' in outcome) one.reject(outcome.error)
        else one.resolve(outcome.value as never)
      }
    } catch (error) {
      const { slow, cause } = error instanceof FailedInGroup ? error : {}
      slow?.reject(cause)
      if (error instanceof FailedInGroup || isCollision(error))
        await Promise.all(group.filter((one) => one !== slow).map((one) => this.#runAlone(one)))
      // The database is unavailable or does not answer: to run each work alone would take as long again, for every work.
      else for (const { reject } of group) reject(error)
    }
  }

  async #runAlone({ item, combined, lane, resolve, reject }: Waiting): Promise<void> {
    const work = combined ? (db: Db) => runOne(db, combined, item) : (item as Work)
    await this.#transact((transaction) => transaction.run(work), lane).then(resolve as never, reject)
  }

  /**
   * Runs the works one after the other, those of a combined work at once. Works that arrived together have no order. Returns
   * the outcomes of those for which there was time.
   */
  async #runAll(
    transaction: OpenTransaction,
    group: readonly Waiting[],
  ): Promise<ReadonlyMap<Waiting, Outcome<unknown>>> {
    const outcomes = new Map<Waiting, Outcome<unknown>>()
    const began = performance.now()
    for (const works of groupBy(group, (one) => one.combined ?? one).values()) {
      if (outcomes.size > 0 && this.#options.isLong(performance.now() - began)) break
      const found = await run(transaction, works)
      for (const [index, one] of works.entries()) {
        const outcome = found[index]
        if (outcome) outcomes.set(one, outcome)
      }
    }
    return outcomes
  }
}

async function run(
  transaction: OpenTransaction,
  works: readonly Waiting[],
): Promise<(Outcome<unknown> | undefined)[]> {
  const { writeCount } = transaction
  const { combined, item } = works[0] as Waiting
  try {
    if (!combined) return [{ value: await transaction.run(item as Work) }]
    return await transaction.run((db) =>
      combined.runAll(
        db,
        works.map((one) => one.item),
      ),
    )
  } catch (error) {
    if (isCancelled(error)) throw new FailedInGroup(error, works.length === 1 ? works[0] : undefined)
    if (isCollision(error) || isUnavailable(error) || isTimeout(error)) throw error
    // A work that refuses its request before it writes leaves the transaction as it was.
    if (error instanceof ApiError && works.length === 1 && transaction.writeCount === writeCount)
      return [{ error }]
    throw new FailedInGroup(error)
  }
}

async function runOne<Item, T>(db: Db, combined: CombinedWork<Item, T>, item: Item): Promise<T> {
  const [outcome] = await combined.runAll(db, [item])
  if (!outcome) throw new Error('A combined work must have an outcome if it has only one item.')
  if ('error' in outcome) throw outcome.error
  return outcome.value
}
