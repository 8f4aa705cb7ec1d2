import { LazySet } from '../../platform/lazy-collections.ts'
import type { Member } from './member.ts'
import { PostponedWork } from './postponed-work.ts'
import type { RoomDeps } from './room-deps.ts'

/** After a read for suspects that found no new rows, the next one waits this long: no row makes their updates valid. */
const pauseMs = 1_000

interface CatchUpQueueDeps {
  /** Reads the rows of other servers that the room lacks. The user is one of those who wait for it. */
  catchUp: (userId: string) => Promise<void>
  /** The number of the newest row that the room has read. */
  newestSeq: () => number
  /** Whether the room is still in use. */
  mayContinue: () => boolean
  onError: (error: unknown) => void
}

/** Work that waits for the same read. */
class Turn {
  readonly work = new PostponedWork()
  /** The senders whose later updates must wait too. */
  readonly senders = new LazySet<Member>()
  firstUserId: string | undefined
  /** Whether an update is waiting that is most likely valid. */
  isUrgent = false
}

/**
 * Updates that the room checks after it has read the rows of other servers. Updates of other senders go on meanwhile; those
 * of one sender keep their order.
 */
export class CatchUpQueue {
  readonly #deps: CatchUpQueueDeps
  #next = new Turn()
  #current: Turn | undefined
  #isReading = false
  #isActive = false
  #pausedUntil = -Infinity
  #endPause: (() => void) | undefined

  constructor(deps: CatchUpQueueDeps) {
    this.#deps = deps
  }

  /** Bytes of the updates that wait. */
  get bytes(): number {
    return this.#next.work.bytes + (this.#current?.work.bytes ?? 0)
  }

  /** Runs the work on an update that is valid, unless the room lacks rows, after a read that begins after this call. */
  add(update: Uint8Array, from: Member, work: () => void): void {
    this.#next.isUrgent = true
    this.#endPause?.()
    this.addSuspect(update, from, work)
  }

  /** The same for an update that is invalid, unless the room lacks rows. */
  addSuspect(update: Uint8Array, from: Member, work: () => void): void {
    this.#next.senders.add(from)
    this.afterRead(update, from, work)
  }

  /** Runs the work after a read, and lets later updates of the sender go on meanwhile. */
  afterRead(update: Uint8Array, { userId }: Member, work: () => void): void {
    this.#next.work.add(update, work)
    this.#next.firstUserId ??= userId
    if (!this.#isActive) this.#runTurns().catch(this.#deps.onError)
  }

  /** If an update of the sender waits, runs the work after it, and returns true. */
  follow(update: Uint8Array, from: Member, work: () => void): boolean {
    const run = () => {
      // The earlier update may have to wait again.
      if (this.#next.senders.has(from)) this.#next.work.add(update, run)
      else work()
    }
    if (this.#next.senders.has(from)) this.#next.work.add(update, run)
    else if (!this.#current?.senders.has(from)) return false
    else if (this.#isReading) this.#current.work.add(update, run)
    else this.add(update, from, run)
    return true
  }

  async #runTurns(): Promise<void> {
    const { catchUp, newestSeq, mayContinue } = this.#deps
    this.#isActive = true
    try {
      while (this.#next.firstUserId !== undefined && mayContinue()) {
        if (!this.#next.isUrgent) await this.#pause()
        const turn = this.#next
        this.#next = new Turn()
        this.#current = turn
        const before = newestSeq()
        this.#isReading = true
        await catchUp(turn.firstUserId ?? '')
        this.#isReading = false
        await turn.work.run(mayContinue)
        const isInVain = !turn.isUrgent && newestSeq() === before
        this.#pausedUntil = isInVain ? performance.now() + pauseMs : -Infinity
        this.#current = undefined
      }
    } finally {
      this.#current = undefined
      this.#isActive = false
    }
  }

  async #pause(): Promise<void> {
    const ms = this.#pausedUntil - performance.now()
    if (ms <= 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      this.#endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#endPause = undefined
  }
}

/** Undefined if there can be no other servers. */
export const createCatchUpQueue = <Room extends { committed: { seq: number }; isDropped: boolean }>(
  room: Room,
  { catchUp, onError }: Pick<RoomDeps<Room>, 'catchUp' | 'onError'>,
): CatchUpQueue | undefined =>
  catchUp &&
  new CatchUpQueue({
    catchUp: (userId) => catchUp(room, userId),
    newestSeq: () => room.committed.seq,
    mayContinue: () => !room.isDropped,
    onError: (error) => onError(room, error),
  })
