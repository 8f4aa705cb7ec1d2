import type { CloseReason, ServerMessage } from '@plenum/protocol/realtime'
import type { Entry } from '../../store/editors/log.ts'
import type { AwarenessOwner } from './awareness/awareness.ts'
import type { ClientOwner } from './client-owners.ts'
import type { Sender } from '../authorization/commits.ts'
import type { Fault } from '../../crdt/updates/fault.ts'

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
  /** A message of another client that is not stored. The payload is UTF-8. Undefined in dialects that have none. */
  stateless?(payload: Uint8Array): Buffer
}

/** A session that has the editor open. */
export interface Member extends AwarenessOwner, Sender {
  readonly codec: BroadcastCodec
  /** Whether it may write at this moment. */
  readonly canWrite: boolean
  send(frame: Buffer): void
  /** Skips the frame, and returns false, if the client is behind. `clients` are the Yjs clients whose states it has. */
  sendAwareness(frame: Buffer, clients: readonly number[]): boolean
  /** Sends the current state in place of skipped frames, once the client has caught up. */
  resendSkipped(): void
  /** Requests updates that were refused before: they may be stored now. */
  onWriteAllowed(): void
  /** Called when the server lacks updates that this client has. */
  requestMissingUpdates(): void
  end(reason: CloseReason, message: string): void
}

/** Exactly one is called, unless the sender leaves or the room is dropped. */
export interface Outcome {
  /** The update is durable. Without `hasChanges` it is a duplicate of durable updates. */
  saved(seq: number, hasChanges: boolean): void
  /** Nothing of the update is stored. After a `gap`, the client sends it again with the updates before it. */
  refused(fault: Fault): void
}

export interface Pending {
  /** The bytes that the client sent. */
  readonly sent: Uint8Array
  /** The part of them that is stored. */
  update: Uint8Array
  from: Member
  outcome: Outcome
  hasChanges: boolean
  /** The client ids that got an owner by this update. */
  owners: readonly ClientOwner[]
}

export interface Row {
  seq: number
  bytes: Uint8Array
}

export interface StoredRow extends Row {
  userId: string
}

/** The updates of a room that one tick stores, merged into one entry. */
export interface Batch {
  entry: Entry | undefined
  pending: readonly Pending[]
}

/** Whether all senders of changes may still write. */
export const isAllowed = ({ pending }: Pick<Batch, 'pending'>): boolean =>
  pending.every(({ hasChanges, from }) => !hasChanges || from.mayStore === true)

export const readOnly = {
  code: 'read_only',
  message: 'The user may read this document, but not change it.',
} as const satisfies Fault

/** Whether the update may fit once an earlier one has arrived. */
export const isOutOfOrder = ({ code }: Fault) => code === 'gap' || code === 'future_delete'

/** Whether an honest client can cause the fault, so that its connection stays open. */
export const isRecoverable = (fault: Fault) => isOutOfOrder(fault) || recoverable.has(fault.code)
const recoverable: ReadonlySet<Fault['code']> = new Set([
  'foreign_client',
  'read_only',
  'full',
  'too_many_ids',
])
