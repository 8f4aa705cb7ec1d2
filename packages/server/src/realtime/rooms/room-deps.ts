import type { CloseReason } from '@plenum/protocol/realtime'
import type { SharedLists } from '../../peers/shared-lists.ts'
import type { ReservedClientIds } from './awareness/reserved-client-ids.ts'
import type { EditorLog } from '../../store/editors/log.ts'
import type { EditorRef } from '../../store/refs.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import type { DocumentIndex } from '../../crdt/updates/document-index.ts'

/** What a room needs from outside. `Room` is `EditorRoom`, which imports this file. */
export interface RoomDeps<Room> {
  apiKey: string
  ref: EditorRef
  index: DocumentIndex
  /** Undefined if the editor does not exist yet. */
  stored: EditorLog | undefined
  crdt: Crdt
  /** The size limit of the stored editor. */
  maxBytes: number
  /** Called when updates wait to be stored. */
  wake: (room: Room) => void
  /** Reads the rows of other servers that the room lacks, for this user. Undefined if there can be no other servers. */
  catchUp: ((room: Room, userId: string) => Promise<void>) | undefined
  /** Updates wait for such rows, until the promise resolves. */
  onCatchingUp: (work: Promise<void>) => void
  /** Updates that had to wait for such rows could not be checked again. */
  onError: (room: Room, error: unknown) => void
  /** Called when an update did not fit into the editor: a snapshot may make space. */
  makeSpace: (room: Room) => void
  /** Lists over all servers. */
  sharedLists: SharedLists
  reservedClientIds: ReservedClientIds
  /** Runs the steps one by one, in turns with other work. */
  run: (steps: Iterator<unknown>) => void
  /** Called once, by `EditorRoom.drop`. An idle room is removed without this call. */
  onDropped: (room: Room, reason: CloseReason, message: string) => void
}
