import type { CloseReason } from '@plenum/protocol/realtime'
import type { Present } from '../../store/documents/presence.ts'
import { versionEventSteps } from '../rooms/broadcast.ts'
import type { VersionEvent } from '../rooms/member.ts'
import type { EditorRoom } from '../rooms/room.ts'
import { LivePresence } from '../presence/live-presence.ts'
import { LiveStates, type LiveStateParts } from '../live-states/live-states.ts'
import type { Participant, Verdict } from './participant.ts'
import type { Fault } from '../../crdt/updates/update-reader.ts'

export interface DocumentParts {
  apiKey: string
  organizationId: string
  documentId: string
  now: () => number
  /** Counts up with every change of access that concerns the user under the whole API key. */
  epochOf: (userId: string) => number
  /** Judges those participants; in their order. */
  evaluate: (document: OpenDocument, participants: readonly Participant[]) => Promise<Verdict[]>
  load: (document: OpenDocument, editorId: string) => Promise<EditorRoom>
  /** There are rows that the room does not know. */
  grown: (room: EditorRoom) => void
  /** Entries of backends in the presence list: of these users, or all. */
  readPresence: (document: OpenDocument, userIds?: readonly string[]) => Promise<Present[]>
  readLiveStates: (document: OpenDocument, seq: number) => ReturnType<LiveStateParts['read']>
  /** Waits for another turn of the event loop, in which no other document reads live states. */
  pauseReading: (document: OpenDocument) => Promise<void>
  /** Does one step after the other, in turns with other work. */
  run: (document: OpenDocument, steps: Iterator<unknown>) => void
  onUpdateRefused: (reason: Fault['code']) => void
  failed: (error: unknown) => void
  /** Whoever comes next gets another one. */
  ended: (document: OpenDocument) => void
}

interface Slot {
  loading: Promise<EditorRoom>
  room: EditorRoom | undefined
  /** Something was stored while it was loading. */
  hasGrown: boolean
}

/** A judgement that cannot be made is tried again so often; then the clients are sent away. */
const attempts = 5
const pauseMs = 200

/** A document that somebody has open: who is there, under which judgement, and its open editors. */
export class OpenDocument {
  readonly apiKey: string
  readonly organizationId: string
  readonly documentId: string
  readonly participants = new Set<Participant>()
  /** Those whose updates wait for a decision. They may have left. */
  readonly #undecided = new Set<Participant>()
  readonly editors = new Map<string, Slot>()
  readonly presence: LivePresence
  readonly liveStates: LiveStates
  /** Whether it is known to be stored. */
  exists = false
  readonly #parts: DocumentParts
  #accessChanges = 0
  #judging: Promise<void> | undefined

  constructor(parts: DocumentParts) {
    this.#parts = parts
    this.apiKey = parts.apiKey
    this.organizationId = parts.organizationId
    this.documentId = parts.documentId
    const { now, failed } = parts
    this.presence = new LivePresence({
      now,
      failed,
      read: (userIds) => parts.readPresence(this, userIds),
      run: (steps) => parts.run(this, steps),
    })
    this.liveStates = new LiveStates({
      failed,
      read: (seq) => parts.readLiveStates(this, seq),
      pause: () => parts.pauseReading(this),
      gone: () => this.end('gone', 'The document was deleted.'),
    })
  }

  /** Counts up with every change of access that concerns the user here. */
  epochOf(userId: string): number {
    return this.#accessChanges + this.#parts.epochOf(userId)
  }

  /** Everybody here may do more or less than before: `judge` finds out. */
  accessChanged(): void {
    this.#accessChanges++
  }

  /** Whether one of these users is here. */
  has(userIds: ReadonlySet<string>): boolean {
    for (const { identity } of this.participants) if (userIds.has(identity.userId)) return true
    return false
  }

  now(): number {
    return this.#parts.now()
  }

  join(participant: Participant): void {
    this.participants.add(participant)
    void this.judge()
  }

  leave(participant: Participant): void {
    this.participants.delete(participant)
    this.presence.leave(participant)
  }

  /** The participant may be here. Backends are not shown. */
  entered(participant: Participant): void {
    if (participant.identity.access !== 'server') {
      this.presence.enter(participant, participant.tellsIdleness)
    }
  }

  /** The participant's user has just done something. */
  active(participant: Participant): void {
    this.presence.active(participant)
  }

  /** An update of an editor is not stored. */
  updateRefused({ code }: Fault): void {
    this.#parts.onUpdateRefused(code)
  }

  /** The participant's client is there, whatever its user does. */
  heard(participant: Participant): void {
    this.presence.heard(participant)
  }

  /** Judges everyone whose judgement is not current, until all are. */
  judge(): Promise<void> {
    this.#judging ??= this.#judgeAll().finally(() => {
      this.#judging = undefined
    })
    return this.#judging
  }

  /** Resolves when it is known whether that participant may write, whether or not it is still here. */
  decide(participant: Participant): Promise<void> {
    this.#undecided.add(participant)
    return this.judge()
  }

  async #judgeAll(): Promise<void> {
    for (let failures = 0; ;) {
      // Not before the caller is done: many who join together are judged together.
      await Promise.resolve()
      const waiting = new Set([...this.participants, ...this.#undecided])
      const stale = [...waiting].filter((one) => !one.isCurrent(this.now()))
      if (stale.length === 0) return this.#undecided.clear()
      const epochs = stale.map(({ epoch }) => epoch)
      try {
        const decisions = await this.#parts.evaluate(this, stale)
        stale.forEach((one, index) => {
          this.#undecided.delete(one)
          one.judged(decisions[index] as Verdict, epochs[index] as number, this.now())
        })
      } catch (error) {
        this.#parts.failed(error)
        if (++failures === attempts) {
          for (const one of stale) one.end('unavailable', 'Access could not be checked.')
          return this.#undecided.clear()
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
  }

  /** The room of an editor, one for all who ask; fails if it cannot be loaded. */
  editor(editorId: string): Promise<EditorRoom> {
    const held = this.editors.get(editorId)
    if (held) return held.loading
    const slot: Slot = { loading: this.#parts.load(this, editorId), room: undefined, hasGrown: false }
    this.editors.set(editorId, slot)
    slot.loading.then(
      (room) => {
        slot.room = room
        if (slot.hasGrown) this.#parts.grown(room)
      },
      () => this.#forget(editorId, slot),
    )
    return slot.loading
  }

  /** Somebody has stored updates of that editor. */
  grown(editorId: string): void {
    const slot = this.editors.get(editorId)
    if (slot?.room) this.#parts.grown(slot.room)
    else if (slot) slot.hasGrown = true
  }

  /** Tells the clients that have the editor open. A client that opens it later reads the list. */
  versionsChanged(editorId: string, event: VersionEvent): void {
    const room = this.editors.get(editorId)?.room
    if (room) this.#parts.run(this, versionEventSteps(room.members, event))
  }

  /** Everything that is stored may be different. */
  readAgain(): void {
    void this.presence.reload()
    this.liveStates.changed()
    for (const editorId of this.editors.keys()) {
      this.grown(editorId)
      this.versionsChanged(editorId, { type: 'versionsChanged' })
    }
  }

  /** Whoever asks next gets a room that is loaded anew. */
  forget(room: EditorRoom): void {
    const slot = this.editors.get(room.place.editorId)
    if (slot?.room === room) this.#forget(room.place.editorId, slot)
  }

  #forget(editorId: string, slot: Slot): void {
    if (this.editors.get(editorId) === slot) this.editors.delete(editorId)
  }

  /** Sends everyone away, for good: what is stored under its id from now on has nothing to do with them. */
  end(reason: CloseReason, message: string): void {
    this.#parts.ended(this)
    const rooms = [...this.editors.values()]
    this.editors.clear()
    for (const { room } of rooms) room?.drop(reason, message)
    this.presence.forget()
    this.liveStates.forget()
    for (const participant of this.participants) participant.end(reason, message)
  }
}
