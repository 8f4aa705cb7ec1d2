import * as encoding from 'lib0/encoding'
import { type Missing, Refusal } from './fault.ts'
import { addRange, type Ranges } from './ranges.ts'
import { defaultBounds } from './update-bounds.ts'
import { StructReader } from './update-structs.ts'
import { writeUpdate, type Section } from './update-writer.ts'
import type { StateVector } from './validate-update.ts'

/** What remains of an update without the structs of foreign Yjs clients. */
export interface OwnPart {
  /** The update without structs of foreign clients, known structs, and deletes of items that are then unknown. */
  update: Uint8Array
  /** The deletes that `update` lacks. Undefined if there are none. */
  future: FutureDeletes | undefined
}

export interface FutureDeletes {
  /** An update with only these deletes. */
  update: Uint8Array
  /** The items that the first of them deletes. */
  missing: Missing
  /** The Yjs client ids of all items that they delete. */
  clients: readonly number[]
}

/** Returns undefined if nothing is left of the update, or if it cannot be read. The result is not validated. */
export function withoutClients(
  update: Uint8Array,
  isForeign: (client: number) => boolean,
  known: StateVector,
): OwnPart | undefined {
  try {
    const reader = new StructReader(update)
    const ends = new Map<number, number>()
    const sections: Section[] = []
    const count = reader.count(5)
    for (let i = 0; i < count; i++) {
      const section = readSection(reader, known)
      if (section.structCount === 0 || isForeign(section.client)) continue
      sections.push(section)
      ends.set(section.client, section.end)
    }
    const { kept, cut } = cutDeletes(reader, (client) => ends.get(client) ?? known.get(client) ?? 0)
    if (sections.length === 0 && kept.length === 0 && cut.length === 0) return undefined
    return {
      update: writeUpdate(update, sections, encodeDeletes(kept)),
      future: futureDeletesOf(update, cut),
    }
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

/** Reads the structs of one client. Skips those that are completely known. */
function readSection(reader: StructReader, known: StateVector): Section & { end: number } {
  let structCount = reader.count(2)
  const client = reader.uint()
  let clock = reader.uint()
  const knownTo = known.get(client) ?? 0
  let end = clock
  let from = reader.at
  for (let left = structCount; left > 0; left--) {
    reader.readStruct(defaultBounds)
    end += reader.length
    if (end > knownTo) continue
    clock = end
    from = reader.at
    structCount--
  }
  return { client, clock, structCount, cut: 0, from, to: reader.at, end }
}

type Deletes = (readonly [client: number, ranges: Ranges])[]

/** Cuts the delete set off at the clocks. `cut` has the deletes beyond them. The set can name thousands of clients. */
function cutDeletes(
  reader: StructReader,
  clockOf: (client: number) => number,
): { kept: Deletes; cut: Deletes } {
  const kept: Deletes = []
  const cut: Deletes = []
  for (let left = reader.count(2); left > 0; left--) {
    const client = reader.uint()
    const limit = clockOf(client)
    const before: Ranges = []
    const after: Ranges = []
    for (let ranges = reader.count(2); ranges > 0; ranges--) {
      const start = reader.uint()
      const end = start + reader.uint()
      if (start < Math.min(end, limit)) addRange(before, start, Math.min(end, limit))
      if (end > Math.max(start, limit)) addRange(after, Math.max(start, limit), end)
    }
    if (before.length > 0) kept.push([client, before])
    if (after.length > 0) cut.push([client, after])
  }
  return { kept, cut }
}

function futureDeletesOf(update: Uint8Array, cut: Deletes): FutureDeletes | undefined {
  const [first] = cut
  if (first === undefined) return undefined
  const [client, ranges] = first
  return {
    update: writeUpdate(update, [], encodeDeletes(cut)),
    missing: { client, clock: ranges[1] as number },
    clients: cut.map(([id]) => id),
  }
}

const encodeDeletes = (deletes: Deletes): Uint8Array =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, deletes.length)
    for (const [client, ranges] of deletes) {
      encoding.writeVarUint(encoder, client)
      encoding.writeVarUint(encoder, ranges.length / 2)
      for (let i = 0; i < ranges.length; i += 2) {
        const start = ranges[i] as number
        encoding.writeVarUint(encoder, start)
        encoding.writeVarUint(encoder, (ranges[i + 1] as number) - start)
      }
    }
  })
