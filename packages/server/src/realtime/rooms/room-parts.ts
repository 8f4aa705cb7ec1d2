import type { CloseReason } from '@plenum/protocol/realtime'
import type { EditorLog } from '../../store/editors/log.ts'
import type { Place } from '../../store/editors/editors.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import type { DocumentIndex } from '../../crdt/updates/document-index.ts'
import type { EditorRoom } from './room.ts'

/** What a room is made of, and whom it tells. */
export interface RoomParts {
  apiKey: string
  place: Place
  index: DocumentIndex
  /** Undefined: the editor does not exist yet. */
  stored: EditorLog | undefined
  crdt: Crdt
  /** What may be stored of it. */
  maxBytes: number
  /** There is something to store. */
  wake: (room: EditorRoom) => void
  /** A snapshot would make space. */
  makeSpace: (room: EditorRoom) => void
  /** Does one step after the other, in turns with other work. */
  run: (steps: Iterator<unknown>) => void
  /** The room does not know any more what is stored. */
  drop: (room: EditorRoom, reason: CloseReason, message: string) => void
}
