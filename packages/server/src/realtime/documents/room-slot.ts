import type { EditorRoom } from '../rooms/room.ts'

/** An unused room is kept for this many sweeps (10 s), for clients that connect again. */
const maxIdleSweeps = 20

/** An editor that is open or being loaded. */
export class RoomSlot {
  readonly loading: Promise<EditorRoom>
  readonly #unlisten: () => void
  room: EditorRoom | undefined
  /** Whether updates were stored while the room was loading. */
  hasNewRows = false
  /** Sweeps since the room was last in use. */
  #idleSweeps = 0

  constructor(loading: Promise<EditorRoom>, unlisten: () => void) {
    this.loading = loading
    this.#unlisten = unlisten
  }

  /** Ends the exchange with other servers. */
  end(): void {
    this.#unlisten()
    this.room?.relay.close()
  }

  /** Whether no client has used the room for a while. */
  get isUnused(): boolean {
    return this.#idleSweeps > maxIdleSweeps
  }

  /** Returns whether nothing in the room needs the next sweep. */
  sweep(makeSpace: (room: EditorRoom) => void): boolean {
    const { room } = this
    if (!room) return false
    const mustExpire = room.expireOutOfOrder()
    if (room.limits.isNearlyFull) makeSpace(room)
    let isQuiet = !mustExpire && !room.limits.isNearlyFull && !room.isIdle
    for (const member of room.members) isQuiet = !member.resendSkipped() && isQuiet
    this.#idleSweeps = room.isIdle ? this.#idleSweeps + 1 : 0
    return isQuiet
  }
}
