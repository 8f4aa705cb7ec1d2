import type { CloseReason, ServerMessage } from '@plenum/protocol/realtime'
import type { AwarenessOwner } from './awareness/awareness.ts'
import type { Sender } from '../authorization/commits.ts'

/** A change of the versions of an editor, without the channel under which each client receives it. */
export type VersionEvent = ServerMessage extends infer Message
  ? Message extends { type: 'versionAdded' | 'versionRestored' | 'versionsChanged' }
    ? Omit<Message, 'channel'>
    : never
  : never

/** Encodes broadcasts in a dialect. Members whose codecs have the same `key` receive the same bytes. */
export interface BroadcastCodec {
  readonly key: string
  update(update: Uint8Array): Buffer
  awareness(update: Uint8Array): Buffer
  /** Undefined in dialects that have no such message. */
  versionEvent?(event: VersionEvent): Buffer
  /** A stateless message of another client. The payload is UTF-8. Undefined in dialects that have no such message. */
  stateless?(payload: Uint8Array): Buffer
}

/** A session that has the editor open. */
export interface Member extends AwarenessOwner, Sender {
  readonly codec: BroadcastCodec
  /** Whether the session may write at this moment: it has the write role by a current decision, and has not left. */
  readonly canWriteNow: boolean
  send(frame: Buffer): void
  /** Sends a frame that is not urgent: together with the next frame, or a little later. */
  sendLater(frame: Buffer): void
  /** Sends the states of these Yjs client ids. Skips the frame and returns false if the client is behind. */
  sendAwareness(frame: Buffer, clientIds: readonly number[]): boolean
  /**
   * Called when the document is swept. Sends the current states in place of skipped frames, once the client is not behind any more.
   * Returns whether something still waits.
   */
  resendSkipped(): boolean
  /** Updates that were refused before may be stored now: requests them. */
  onWriteAllowed(): void
  /** Requests the updates that this client has and the server lacks. */
  requestMissingUpdates(): void
  /** Closes the editor for this session, and says why. */
  close(reason: CloseReason, message: string): void
}
