import type { CloseReason } from '@plenum/protocol/realtime'
import type { EditorLog } from '../store/editor-log.ts'
import type { Place } from '../store/editors.ts'
import type { Crdt } from './crdt.ts'
import type { DocumentIndex } from './document-index.ts'
import type { EditorRoom } from './editor-room.ts'

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
  /** Awareness has changed: call `publishAwareness` soon. */
  awarenessChanged: (room: EditorRoom) => void
  /** The room does not know any more what is stored. */
  drop: (room: EditorRoom, reason: CloseReason, message: string) => void
}
