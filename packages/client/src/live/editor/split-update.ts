import * as encoding from 'lib0/encoding'
import * as Y from 'yjs'

type Decoded = ReturnType<typeof Y.decodeUpdate>
type Struct = Decoded['structs'][number]
type Deletes = Decoded['ds']['clients']

/** Room for what a part has besides its structs. */
const headroomBytes = 4 * 1024
/** The most bytes of a deleted range, and of a client in the list of deletions. */
const maxRangeBytes = 10

/**
 * Splits an update into updates of at most `maxBytes`. Whoever has all that the update builds on can apply them one after the
 * other: none needs a later one. A part is larger only if it has a value that cannot be divided.
 */
export function splitUpdate(update: Uint8Array, maxBytes: number): Uint8Array[] {
  if (update.length <= maxBytes) return [update]
  const { structs, ds } = Y.decodeUpdate(update)
  const max = maxBytes - headroomBytes
  const parts: Struct[][] = [[]]
  let bytes = 0
  for (const struct of inCausalOrder(structs.flatMap((one) => divide(one, max)))) {
    const size = sizeOf(struct)
    if (bytes > 0 && bytes + size > max) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)?.push(struct)
    bytes += size
  }
  // The deletions may concern structs of any part.
  return [
    ...parts.filter(({ length }) => length > 0).map((part) => encode(part, new Map())),
    ...divideDeletes(ds.clients, max).map((some) => encode([], some)),
  ]
}

function divideDeletes(deletes: Deletes, maxBytes: number): Deletes[] {
  const parts: Deletes[] = []
  let room = 0
  for (const [client, ranges] of deletes) {
    for (const range of ranges) {
      if (room <= 0) {
        parts.push(new Map())
        room = maxBytes
      }
      const part = parts.at(-1)
      const ofClient = part?.get(client)
      if (ofClient) ofClient.push(range)
      else {
        part?.set(client, [range])
        room -= maxRangeBytes
      }
      room -= maxRangeBytes
    }
  }
  return parts
}

function sizeOf(struct: Struct): number {
  const encoder = new Y.UpdateEncoderV1()
  struct.write(encoder, 0)
  return encoding.length(encoder.restEncoder)
}

/** Divides a text or a list of values that is too large for one part. */
function divide(struct: Struct, maxBytes: number): Struct[] {
  const size = sizeOf(struct)
  if (size <= maxBytes || !(struct instanceof Y.Item)) return [struct]
  const { content } = struct
  if (!(content instanceof Y.ContentString || content instanceof Y.ContentAny)) return [struct]
  const pieces: Struct[] = []
  let from = 0
  for (const to of content instanceof Y.ContentString
    ? endsOfText(content, size, maxBytes)
    : endsOfValues(content, maxBytes)) {
    const piece =
      content instanceof Y.ContentString
        ? new Y.ContentString(content.str.slice(from, to))
        : new Y.ContentAny(content.arr.slice(from, to))
    pieces.push(pieceOf(struct, from, piece))
    from = to
  }
  return pieces
}

/** Where the pieces of a text end. A character may take three times as many bytes as another one. */
function* endsOfText({ str }: Y.ContentString, size: number, maxBytes: number): Generator<number> {
  const step = Math.max(1, Math.floor((str.length * maxBytes) / size / 3))
  for (let end = 0; end < str.length;) {
    end = Math.min(str.length, end + step)
    // Yjs replaces the halves of a pair of surrogates that is cut.
    if ((str.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++
    yield end
  }
}

/** Where the pieces of a list of values end. Values may differ much in size. */
function* endsOfValues({ arr }: Y.ContentAny, maxBytes: number): Generator<number> {
  let bytes = 0
  for (const [index, value] of arr.entries()) {
    const size = encoding.encode((encoder) => encoding.writeAny(encoder, value)).length
    if (bytes > 0 && bytes + size > maxBytes) {
      yield index
      bytes = 0
    }
    bytes += size
  }
  yield arr.length
}

/** The part of an item from `offset` on, as Yjs divides items. */
function pieceOf(item: Y.Item, offset: number, content: Y.ContentString | Y.ContentAny): Y.Item {
  const { client, clock } = item.id
  const origin = offset === 0 ? item.origin : Y.createID(client, clock + offset - 1)
  const id = Y.createID(client, clock + offset)
  return new Y.Item(id, null, origin, null, item.rightOrigin, item.parent, item.parentSub, content)
}

/** Orders structs so that each comes after those that it refers to. */
function* inCausalOrder(structs: readonly Struct[]): Generator<Struct> {
  /** Of each client, the last struct first. */
  const waiting = new Map<number, Struct[]>()
  for (const struct of structs.toReversed()) {
    const ofClient = waiting.get(struct.id.client)
    if (ofClient) ofClient.push(struct)
    else waiting.set(struct.id.client, [struct])
  }
  const isWaiting = ({ client, clock }: Y.ID) => clock >= (waiting.get(client)?.at(-1)?.id.clock ?? Infinity)
  for (const first of waiting.keys()) {
    /** Each of these clients needs a struct of the next one. */
    const path = [first]
    for (let client = path.at(-1); client !== undefined; client = path.at(-1)) {
      const struct = waiting.get(client)?.at(-1)
      const needed = struct && referencesOf(struct).find((id) => !path.includes(id.client) && isWaiting(id))
      if (needed) {
        path.push(needed.client)
        continue
      }
      if (struct) {
        waiting.get(client)?.pop()
        yield struct
      }
      if (!struct || path.length > 1) path.pop()
    }
  }
}

function referencesOf(struct: Struct): Y.ID[] {
  if (!(struct instanceof Y.Item)) return []
  return [struct.origin, struct.rightOrigin, struct.parent].filter((one) => one instanceof Y.ID)
}

function encode(structs: readonly Struct[], deletes: Deletes): Uint8Array {
  const byClient = new Map<number, Struct[]>()
  for (const struct of structs) {
    const ofClient = byClient.get(struct.id.client)
    if (ofClient) ofClient.push(struct)
    else byClient.set(struct.id.client, [struct])
  }
  const encoder = new Y.UpdateEncoderV1()
  const { restEncoder } = encoder
  const write = (number: number) => encoding.writeVarUint(restEncoder, number)
  write(byClient.size)
  // Yjs writes the highest client id first, and relies on that when it merges updates.
  for (const [client, ofClient] of [...byClient].toSorted(descending)) {
    write(ofClient.length)
    write(client)
    write(ofClient[0]?.id.clock ?? 0)
    for (const struct of ofClient) struct.write(encoder, 0)
  }
  write(deletes.size)
  for (const [client, ranges] of [...deletes].toSorted(descending)) {
    write(client)
    write(ranges.length)
    for (const { clock, len } of ranges) {
      write(clock)
      write(len)
    }
  }
  return encoder.toUint8Array()
}

const descending = ([one]: readonly [number, unknown], [other]: readonly [number, unknown]) => other - one
