import type { Framing, Member } from './editor-member.ts'

export function broadcastUpdate(members: Iterable<Member>, update: Uint8Array): void {
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
