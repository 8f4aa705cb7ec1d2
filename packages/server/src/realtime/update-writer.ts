import * as encoding from 'lib0/encoding'
import { contentRefs } from './update-contents.ts'
import type { Ranges } from './ranges.ts'

/** What is kept of the structs of one client. */
export interface Section {
  client: number
  /** The clock of the first struct. */
  clock: number
  structs: number
  /** The length of a first struct that is collected and has lost its beginning; 0 if there is none. */
  cut: number
  /** The bytes of the other structs. */
  from: number
  to: number
}

/** An update of parts of another. The delete set is given, or its bytes as they are. */
export function writeUpdate(
  bytes: Uint8Array,
  sections: readonly Section[],
  deletes: ReadonlyMap<number, Ranges> | Uint8Array,
): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, sections.length)
  for (const { client, clock, structs, cut, from, to } of sections.toSorted((a, b) => b.client - a.client)) {
    for (const number of [structs, client, clock]) encoding.writeVarUint(encoder, number)
    if (cut > 0) {
      encoding.writeUint8(encoder, contentRefs.gc)
      encoding.writeVarUint(encoder, cut)
    }
    encoding.writeUint8Array(encoder, bytes.subarray(from, to))
  }
  if (deletes instanceof Uint8Array) encoding.writeUint8Array(encoder, deletes)
  else writeDeleteSet(encoder, deletes)
  return encoding.toUint8Array(encoder)
}

function writeDeleteSet(encoder: encoding.Encoder, deletes: ReadonlyMap<number, Ranges>): void {
  encoding.writeVarUint(encoder, deletes.size)
  for (const [client, ranges] of deletes) {
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, ranges.length / 2)
    for (let i = 0; i < ranges.length; i += 2) {
      const start = ranges[i] as number
      encoding.writeVarUint(encoder, start)
      encoding.writeVarUint(encoder, (ranges[i + 1] as number) - start)
    }
  }
}
