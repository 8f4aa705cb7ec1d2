import type { CloseReason, ServerMessage } from '@plenum/protocol/realtime'
import type { Entry } from '../../store/editors/log.ts'
import type { Owner } from './awareness/awareness.ts'
import type { ClientOwner } from './client-owners.ts'
import type { Sender } from '../authorization/commits.ts'
import type { Fault } from '../../crdt/updates/validate-update.ts'

/** What happened to the versions of an editor, as clients are told it under their channel. */
export type VersionEvent = ServerMessage extends infer Message
  ? Message extends { type: 'versionAdded' | 'versionRestored' | 'versionsChanged' }
    ? Omit<Message, 'channel'>
    : never
  : never

/** How a dialect puts things to its clients. Those with the same `key` get the very same bytes. */
export interface Framing {
  readonly key: string
  update(update: Uint8Array): Buffer
  awareness(update: Uint8Array): Buffer
  /** Undefined where the dialect has no message for it. */
  versionEvent?(event: VersionEvent): Buffer
  /** A message of another client that is not stored; dialects without it have none. The payload is UTF-8. */
  stateless?(payload: Uint8Array): Buffer
}

/** A session that has the editor open. */
export interface Member extends Owner, Sender {
  readonly framing: Framing
  /** Whether it may write at this moment. */
  readonly canWrite: boolean
  send(frame: Buffer): void
  /** Leaves the frame out for a client that is behind; false then. It holds the states of these Yjs clients. */
  sendAwareness(frame: Buffer, clients: readonly number[]): boolean
  /** Sends instead of what was left out the state as it is now, if the client has caught up. */
  makeUp(): void
  /** Asks for what was refused before, if anything was: it may be stored now. */
  mayWrite(): void
  /** The server lacks something that this client has. */
  askForMore(): void
  end(reason: CloseReason, message: string): void
}

/** What becomes of an update; one is called, once, unless its sender leaves or the room is dropped before. */
export interface Outcome {
  /** It is durable. Not `isNews`: it was before. */
  saved(seq: number, isNews: boolean): void
  /** Nothing of it is stored. `gap`: it will be, once what it builds upon is here. */
  refused(fault: Fault): void
}

export interface Pending {
  /** As it was sent. */
  readonly sent: Uint8Array
  /** What of it is stored. */
  update: Uint8Array
  from: Member
  outcome: Outcome
  isNews: boolean
  /** The client ids that have an owner by this update. */
  owners: readonly ClientOwner[]
}

export interface Row {
  seq: number
  bytes: Uint8Array
}

export interface StoredRow extends Row {
  userId: string
}

/** What one tick stores of a room. */
export interface Batch {
  entry: Entry | undefined
  pending: readonly Pending[]
}

/** Whether everyone who wrote something of it may still write. */
export const isAllowed = ({ pending }: Pick<Batch, 'pending'>): boolean =>
  pending.every(({ isNews, from }) => !isNews || from.mayStore === true)

export const readOnly = {
  code: 'read_only',
  message: 'The user may read this document, but not change it.',
} as const satisfies Fault

/** It may fit once something else has arrived. */
export const isEarly = ({ code }: Fault) => code === 'gap' || code === 'future_delete'

/** Whether an honest client may have sent it. */
export const isBearable = (fault: Fault) => isEarly(fault) || bearable.has(fault.code)
const bearable: ReadonlySet<Fault['code']> = new Set(['foreign_client', 'read_only', 'full', 'too_many_ids'])
