import { mergeMany } from '../../crdt/crdt-work.ts'
import type { Framing, Member, Row, VersionEvent } from './member.ts'

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

/** One member a step. */
export function* versionEventSteps(members: ReadonlySet<Member>, event: VersionEvent): Generator<undefined> {
  const frameFor = framesBy(({ versionEvent }) => versionEvent?.(event))
  for (const member of Array.from(members)) {
    const frame = members.has(member) && frameFor(member.framing)
    if (frame) member.send(frame)
    yield
  }
}

/** Encodes it once for each framing, if there are few. */
export function framesBy<Frame extends Buffer | undefined>(
  encode: (framing: Framing) => Frame,
): (framing: Framing) => Frame {
  const frames = new Map<string, Frame>()
  return (framing) => {
    let frame = frames.get(framing.key)
    if (frame === undefined) {
      frame = encode(framing)
      if (frames.size < maxKeptFrames) frames.set(framing.key, frame)
    }
    return frame
  }
}
