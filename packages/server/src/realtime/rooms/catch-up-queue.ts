import type { Member } from './member.ts'
import { PostponedWork } from './postponed-work.ts'
import type { RoomDeps } from './room-deps.ts'

/** After a read for suspects that found no new rows, the next one waits: first this long, and then twice as long each time. */
const minPauseMs = 10
const maxPauseMs = 1_000

/** `isCurrent`: the rows that other servers had stored when the update arrived have been read. */
export type Work = (isCurrent: boolean) => void

interface CatchUpQueueDeps {
  /** Reads the rows of other servers that the room lacks. It counts as a read of this user. */
  catchUp: (userId: string) => Promise<void>
  /** How many rows of others the room has read. */
  rowCount: () => number
  /** While the index of the room is rebuilt, resolves when it is. */
  rebuilding: () => Promise<void> | undefined
  /** Whether the room is still in use. */
  mayContinue: () => boolean
  /** Work has begun. The server waits for it when it stops. */
  onBegun: (work: Promise<void>) => void
  onError: (error: unknown) => void
}

/** Work that waits for the same read. */
class Turn {
  readonly work = new PostponedWork()
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
  #isActive = false
  #pausedUntil = -Infinity
  #pauseMs = 0
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
    this.#next.work.add(update, work, from)
    this.#next.firstUserId ??= from.userId
    const { onBegun, onError } = this.#deps
    if (!this.#isActive) onBegun(this.#runTurns().catch(onError))
  }

  /** If an update of the sender waits, runs the work after it, and returns true. */
  follow(update: Uint8Array, from: Member, work: Work): boolean {
    const later = (isCurrent: boolean) => () => {
      // The earlier update may have to wait again.
      if (this.#next.work.has(from)) this.#next.work.add(update, later(true), from)
      else work(isCurrent)
    }
    // The read of the current turn may have begun before the update arrived.
    if (this.#current?.work.has(from)) this.#current.work.add(update, later(false), from)
    else if (this.#next.work.has(from)) this.#next.work.add(update, later(true), from)
    else return false
    return true
  }

  async #runTurns(): Promise<void> {
    const { catchUp, rowCount, rebuilding, mayContinue } = this.#deps
    this.#isActive = true
    try {
      while (this.#next.firstUserId !== undefined && mayContinue()) {
        if (!this.#next.isUrgent) await this.#pause()
        const turn = this.#next
        this.#next = new Turn()
        this.#current = turn
        const before = rowCount()
        await catchUp(turn.firstUserId ?? '')
        if (!turn.isUrgent) this.#setPause(rowCount() === before)
        await turn.work.run(mayContinue, { obstacle: rebuilding })
        this.#current = undefined
      }
    } finally {
      this.#current = undefined
      this.#isActive = false
    }
  }

  #setPause(wasInVain: boolean): void {
    const now = performance.now()
    const isRepeated = this.#pauseMs > 0 && now - this.#pausedUntil < maxPauseMs
    this.#pauseMs = wasInVain ? Math.min(maxPauseMs, isRepeated ? 2 * this.#pauseMs : minPauseMs) : 0
    this.#pausedUntil = now + this.#pauseMs
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

interface CatchUpRoom {
  rowsOfOthers: number
  rebuilding: Promise<void> | undefined
  isDropped: boolean
}

/** Undefined if there can be no other servers. */
export const createCatchUpQueue = <Room extends CatchUpRoom>(
  room: Room,
  { catchUp, onCatchingUp, onError }: Pick<RoomDeps<Room>, 'catchUp' | 'onCatchingUp' | 'onError'>,
): CatchUpQueue | undefined =>
  catchUp &&
  new CatchUpQueue({
    catchUp: (userId) => catchUp(room, userId),
    rowCount: () => room.rowsOfOthers,
    // A failure is handled by the one who rebuilds the index.
    rebuilding: () => room.rebuilding?.catch(() => {}),
    mayContinue: () => !room.isDropped,
    onBegun: onCatchingUp,
    onError: (error) => onError(room, error),
  })
