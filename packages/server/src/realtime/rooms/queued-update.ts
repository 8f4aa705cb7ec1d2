import { mergeMany } from '../../crdt/crdt-work.ts'
import type { Fault } from '../../crdt/updates/fault.ts'
import type { Entry } from '../../store/editors/log.ts'
import type { ClientOwner } from './client-owners.ts'
import type { Member } from './member.ts'

/** How the sender learns the fate of an update. Exactly one is called, unless the sender leaves or the room is dropped. */
export interface Outcome {
  /** The update is durable in the rows up to `seq`. Without `hasChanges` it is a duplicate of durable updates. */
  saved(seq: number, hasChanges: boolean): void
  /** Nothing of the update is stored. After a `gap`, the client sends the update again with the updates before it. */
  refused(fault: Fault): void
}

/** An update that waits to be stored. A duplicate only waits to be acknowledged. */
export interface QueuedUpdate {
  /** The bytes that the client sent. */
  readonly sent: Uint8Array
  /** The part of `sent` that is stored. */
  update: Uint8Array
  from: Member
  outcome: Outcome
  /** False for a duplicate. */
  hasChanges: boolean
  /** Whether the rows that other servers had stored when the update arrived have been read. */
  isCurrent: boolean
  /** The Yjs client ids under which the update has changes. */
  clients: readonly number[]
  /** Those that got an owner by this update. */
  owners: readonly ClientOwner[]
}

export const newUpdate = (
  from: Member,
  sent: Uint8Array,
  outcome: Outcome,
  isCurrent: boolean,
): QueuedUpdate => ({
  sent,
  update: sent,
  from,
  outcome,
  hasChanges: true,
  isCurrent,
  clients: [],
  owners: [],
})

/** A row of the editor's log. */
export interface Row {
  seq: number
  bytes: Uint8Array
}

/** The updates of a room that one tick stores. */
export interface Batch {
  /** The updates that have changes, merged into one row. Undefined if none has changes. */
  entry: Entry | undefined
  updates: readonly QueuedUpdate[]
}

/** Returns the member who sent all changes of the batch, or undefined if several did. */
export function soleSenderOf({ updates }: Batch): Member | undefined {
  let sole: Member | undefined
  for (const { hasChanges, from } of updates) {
    if (!hasChanges) continue
    if (sole !== undefined && sole !== from) return undefined
    sole = from
  }
  return sole
}

/** Whether all senders of changes may still write. */
export const isStorable = ({ updates }: Pick<Batch, 'updates'>): boolean =>
  updates.every(({ hasChanges, from }) => !hasChanges || from.mayStore === true)

/** Resolves when it is known for each sender of changes whether the sender may still write. */
export async function whenDecided(updates: Iterable<QueuedUpdate>): Promise<void> {
  const undecided = new Set<Member>()
  for (const { from, hasChanges } of updates)
    if (hasChanges && from.mayStore === undefined) undecided.add(from)
  await Promise.all(Array.from(undecided, (from) => from.whenDecided()))
}

export const hasLostAccess = ({ hasChanges, from }: QueuedUpdate): boolean =>
  hasChanges && from.mayStore === false

/** Merges the updates that have changes into one row for the editor `target`. */
export function createBatch(
  updates: readonly QueuedUpdate[],
  target: Omit<Entry, 'update' | 'writer' | 'owners'>,
): Batch {
  const changes = updates.filter(({ hasChanges }) => hasChanges)
  const last = changes.at(-1)
  if (last === undefined) return { entry: undefined, updates }
  const { userId, sessionId } = last.from
  return {
    updates,
    entry: {
      ...target,
      // A copy: bytes from the socket are part of a larger buffer.
      update:
        changes.length === 1 ? new Uint8Array(last.update) : mergeMany(changes.map(({ update }) => update)),
      writer: { userId, sessionId },
      owners: changes.length === 1 ? last.owners : changes.flatMap(({ owners }) => owners),
    },
  }
}
