import type { CloseReason } from '@plenum/protocol/realtime'
import type { Fault } from '../../crdt/updates/fault.ts'
import type { BroadcastCodec } from '../rooms/member.ts'
import type { EditorRoom } from '../rooms/room.ts'
import type { Message } from '../sockets/frames.ts'

/** Encodes what a session sends to its client, in the dialect of the client. */
export interface EditorCodec extends BroadcastCodec {
  syncStep1(stateVector: Uint8Array): Buffer
  syncStep2(update: Uint8Array): Message
  /** The update with this number is durable. Without `hasChanges`, the server had its content before. */
  saved?(number: number, update: Uint8Array, hasChanges: boolean): Buffer | undefined
  /** The update with this number is refused, and the editor stays open. `isRepeated`: the last update was refused too. */
  refused?(number: number, fault: Fault, isRepeated: boolean): Buffer | undefined
}

/** Learns what happens to a session without its doing. */
export interface SessionListener {
  /** The server has closed the editor for the client. Not called after `leave`. */
  onEditorClosed(reason: CloseReason, message: string): void
  /** An update is refused, and the editor stays open. */
  onUpdateRefused?(fault: Fault): void
}

/** How a dialect opens an editor. */
export interface OpenOptions {
  /** Whether the server requests missing updates once the editor is loaded. Default: true. */
  requestsUpdates?: boolean
  onLoaded?: (room: EditorRoom) => void
}
