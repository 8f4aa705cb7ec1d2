import { mergeMany } from './crdt-work.ts'
import type { Framing, Member, Row } from './editor-member.ts'

/** Rows of more bytes are not merged: that would read all of them again. */
const maxMergedBytes = 64 * 1024

export function broadcastRows(members: Iterable<Member>, rows: readonly Row[]): void {
  if (rows.length === 0) return
  let bytes = 0
  for (const row of rows) bytes += row.bytes.length
  const updates = rows.map((row) => row.bytes)
  const sent = bytes > maxMergedBytes ? updates : [mergeMany(updates)]
  for (const update of sent) broadcastUpdate(members, update)
}

function broadcastUpdate(members: Iterable<Member>, update: Uint8Array): void {
  broadcast(
    members,
    (framing) => framing.update(update),
    (member, frame) => member.send(frame),
  )
}

/** Clients that are behind get the latest state once they have caught up. */
export function broadcastAwareness(members: Iterable<Member>, update: Uint8Array): void {
  broadcast(
    members,
    (framing) => framing.awareness(update),
    (member, frame) => member.sendIfQuick(frame),
  )
}

/** Encodes it once for each framing. */
function broadcast(
  members: Iterable<Member>,
  encode: (framing: Framing) => Buffer,
  send: (member: Member, frame: Buffer) => void,
): void {
  const frames = new Map<string, Buffer>()
  for (const member of members) {
    const { framing } = member
    let frame = frames.get(framing.key)
    if (frame === undefined) frames.set(framing.key, (frame = encode(framing)))
    send(member, frame)
  }
}
