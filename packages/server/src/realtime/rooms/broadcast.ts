import { mergeMany } from '../../crdt/crdt-work.ts'
import type { BroadcastCodec, Member, VersionEvent } from './member.ts'
import type { Row } from './queued-update.ts'

/** Up to this size, rows are merged into one message. More bytes are sent row by row, because a merge reads all of them. */
const maxMergedBytes = 64 * 1024

/**
 * Clients choose their channels and session ids, so there can be as many keys of codecs as clients. Frames for further keys
 * are encoded for each member.
 */
const maxCachedFrames = 64

/**
 * Sends durable rows to all members. `sender` is the member who sent all of their changes. It has them already, so it gets
 * them back with its next frame, which is the acknowledgement unless the dialect has none.
 */
export function broadcastRows(members: Iterable<Member>, rows: readonly Row[], sender?: Member): void {
  if (rows.length === 0) return
  let bytes = 0
  for (const row of rows) bytes += row.bytes.length
  const updates = rows.map((row) => row.bytes)
  const sent = bytes > maxMergedBytes ? updates : [mergeMany(updates)]
  for (const update of sent) broadcastUpdate(members, update, sender)
}

function broadcastUpdate(members: Iterable<Member>, update: Uint8Array, sender?: Member): void {
  const frameFor = encodeOncePerKey((codec) => codec.update(update))
  for (const member of members) {
    const frame = frameFor(member.codec)
    if (member === sender) member.sendLater(frame)
    else member.send(frame)
  }
}

/** Sends the event to one member per step. */
export function* versionEventSteps(members: ReadonlySet<Member>, event: VersionEvent): Generator<undefined> {
  const frameFor = encodeOncePerKey((codec) => codec.versionEvent?.(event))
  for (const member of Array.from(members)) {
    const frame = members.has(member) && frameFor(member.codec)
    if (frame) member.send(frame)
    yield
  }
}

/** Encodes a frame once for all members whose codecs have the same key. */
export function encodeOncePerKey<Frame extends Buffer | undefined>(
  encode: (codec: BroadcastCodec) => Frame,
): (codec: BroadcastCodec) => Frame {
  const frames = new Map<string, Frame>()
  return (codec) => {
    let frame = frames.get(codec.key)
    if (frame === undefined) {
      frame = encode(codec)
      if (frames.size < maxCachedFrames) frames.set(codec.key, frame)
    }
    return frame
  }
}
