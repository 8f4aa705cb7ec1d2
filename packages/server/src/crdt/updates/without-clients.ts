import * as encoding from 'lib0/encoding'
import { Refusal } from './fault.ts'
import { addRange, type Ranges } from './ranges.ts'
import { defaultBounds } from './update-bounds.ts'
import { StructReader } from './update-structs.ts'
import { writeUpdate, type Section } from './update-writer.ts'
import type { StateVector } from './validate-update.ts'

/**
 * Removes from an update the structs of foreign Yjs clients, known structs, and deletes of items that are then unknown.
 * Returns undefined if nothing is left or the update cannot be read. The result is not validated.
 */
export function withoutClients(
  update: Uint8Array,
  isForeign: (client: number) => boolean,
  known: StateVector,
): Uint8Array | undefined {
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
    const deletes = cutDeletes(reader, (client) => ends.get(client) ?? known.get(client) ?? 0)
    if (sections.length === 0 && deletes === undefined) return undefined
    return writeUpdate(update, sections, deletes ?? noDeletes)
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

const noDeletes = Uint8Array.of(0)

/** Cuts the delete set off at the clocks. Returns undefined if nothing is left. The set can name thousands of clients. */
function cutDeletes(reader: StructReader, clockOf: (client: number) => number): Uint8Array | undefined {
  const encoder = encoding.createEncoder()
  let keptCount = 0
  for (let left = reader.count(2); left > 0; left--) {
    const client = reader.uint()
    const ranges = readRanges(reader, clockOf(client))
    if (ranges.length === 0) continue
    keptCount++
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, ranges.length / 2)
    for (let i = 0; i < ranges.length; i += 2) {
      const start = ranges[i] as number
      encoding.writeVarUint(encoder, start)
      encoding.writeVarUint(encoder, (ranges[i + 1] as number) - start)
    }
  }
  if (keptCount === 0) return undefined
  const clients = encoding.toUint8Array(encoder)
  return encoding.encode((whole) => {
    encoding.writeVarUint(whole, keptCount)
    encoding.writeUint8Array(whole, clients)
  })
}

function readRanges(reader: StructReader, limit: number): Ranges {
  const ranges: Ranges = []
  for (let left = reader.count(2); left > 0; left--) {
    const start = reader.uint()
    const end = Math.min(start + reader.uint(), limit)
    if (end > start) addRange(ranges, start, end)
  }
  return ranges
}
