import { addRange, type Ranges } from './ranges.ts'
import { defaultBounds } from './update-bounds.ts'
import { Refusal } from './update-reader.ts'
import { StructReader } from './update-structs.ts'
import { writeUpdate, type Section } from './update-writer.ts'
import type { StateVector } from './validate-update.ts'

/**
 * What is left of an update without the structs of some clients, without those that are known, and without deletes of
 * what is then unknown; nothing if nothing is left or the bytes are malformed. The result has not been judged.
 */
export function withoutClients(
  update: Uint8Array,
  isForeign: (client: number) => boolean,
  known: StateVector,
): Uint8Array | undefined {
  try {
    const reader = new StructReader(update)
    const ends = new Map(known)
    const sections: Section[] = []
    const count = reader.count(5)
    for (let i = 0; i < count; i++) {
      const section = readSection(reader, known)
      if (section.structs === 0 || isForeign(section.client)) continue
      sections.push(section)
      ends.set(section.client, section.end)
    }
    const deletes = readDeletes(reader, ends)
    if (sections.length === 0 && deletes.size === 0) return undefined
    return writeUpdate(update, sections, deletes)
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

/** With structs that are not known in whole, only. */
function readSection(reader: StructReader, known: StateVector): Section & { end: number } {
  let structs = reader.count(2)
  const client = reader.uint()
  let clock = reader.uint()
  const knownTo = known.get(client) ?? 0
  let end = clock
  let from = reader.at
  for (let left = structs; left > 0; left--) {
    reader.struct(defaultBounds)
    end += reader.length
    if (end > knownTo) continue
    clock = end
    from = reader.at
    structs--
  }
  return { client, clock, structs, cut: 0, from, to: reader.at, end }
}

function readDeletes(reader: StructReader, ends: StateVector): Map<number, Ranges> {
  const deletes = new Map<number, Ranges>()
  const clients = reader.count(2)
  for (let i = 0; i < clients; i++) {
    const client = reader.uint()
    const limit = ends.get(client) ?? 0
    const ranges: Ranges = []
    for (let left = reader.count(2); left > 0; left--) {
      const start = reader.uint()
      const end = Math.min(start + reader.uint(), limit)
      if (end > start) addRange(ranges, start, end)
    }
    if (ranges.length > 0) deletes.set(client, ranges)
  }
  return deletes
}
