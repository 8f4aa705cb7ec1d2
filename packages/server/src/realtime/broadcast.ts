import { mergeMany } from './crdt-work.ts'
import type { Framing, Member, Row } from './editor-member.ts'

/** Rows of more bytes are not merged: that would read all of them again. */
const maxMergedBytes = 64 * 1024

/** Clients choose their channels and session ids, so there may be as many framings as clients. */
const maxKeptFrames = 64

export function broadcastRows(members: Iterable<Member>, rows: readonly Row[]): void {
  if (rows.length === 0) return
  let bytes = 0
  for (const row of rows) bytes += row.bytes.length
  const updates = rows.map((row) => row.bytes)
  const sent = bytes > maxMergedBytes ? updates : [mergeMany(updates)]
  for (const update of sent) broadcastUpdate(members, update)
}

function broadcastUpdate(members: Iterable<Member>, update: Uint8Array): void {
  const frameFor = framesBy((framing) => framing.update(update))
  for (const member of members) member.send(frameFor(member.framing))
}

/** Encodes it once for each framing, if there are few. */
export function framesBy(encode: (framing: Framing) => Buffer): (framing: Framing) => Buffer {
  const frames = new Map<string, Buffer>()
  return (framing) => {
    let frame = frames.get(framing.key)
    if (frame === undefined) {
      frame = encode(framing)
      if (frames.size < maxKeptFrames) frames.set(framing.key, frame)
    }
    return frame
  }
}
