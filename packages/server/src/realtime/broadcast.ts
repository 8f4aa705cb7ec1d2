import type { Framing, Member } from './editor-member.ts'

/** Sends something to all members, encoded once for each framing. */
export function broadcast(
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
