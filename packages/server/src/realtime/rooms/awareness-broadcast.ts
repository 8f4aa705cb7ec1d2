import type { AwarenessStates } from './awareness/awareness.ts'
import { encodeOncePerKey } from './broadcast.ts'
import type { Member } from './member.ts'
import { type BroadcastPart, PacedBroadcast } from '../../platform/turns/paced-broadcast.ts'

/** Sends changed awareness states to all members of an editor. */
export function createAwarenessBroadcast({
  states,
  members,
  run,
  onTaken,
}: {
  states: AwarenessStates
  members: ReadonlySet<Member>
  run: (steps: Iterator<unknown>) => void
  /** Called with the Yjs client ids whose states are sent now. */
  onTaken: (clientIds: readonly number[]) => void
}): PacedBroadcast<Member> {
  const takePart = (): BroadcastPart<Member> => {
    const { clientIds, update, waitMs } = states.takeChanges()
    const changes = clientIds.length
    onTaken(clientIds)
    const frameFor = encodeOncePerKey((codec) => codec.awareness(update))
    const send = (member: Member) => member.sendAwareness(frameFor(member.codec), clientIds)
    return { changes, bytes: update.length, send: changes > 0 ? send : undefined, waitMs }
  }
  return new PacedBroadcast({ recipients: members, countWaiting: () => states.changeCount, takePart, run })
}
