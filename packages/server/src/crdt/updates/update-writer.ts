import * as encoding from 'lib0/encoding'
import { contentRefs } from './update-contents.ts'

/** The structs of one Yjs client that `writeUpdate` writes. */
export interface Section {
  client: number
  /** The clock of the first struct. */
  clock: number
  structCount: number
  /** The length of the first struct, if it is garbage-collected and lost its beginning; otherwise 0. */
  cut: number
  /** Where the bytes of the structs begin. A first struct that lost its beginning is not included. */
  from: number
  /** Where these bytes end. */
  to: number
}

/** Writes an update with sections of the update `bytes`, and with a delete set. */
export function writeUpdate(
  bytes: Uint8Array,
  sections: readonly Section[],
  deletes: Uint8Array,
): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, sections.length)
  for (const { client, clock, structCount, cut, from, to } of sections.toSorted(
    (a, b) => b.client - a.client,
  )) {
    for (const number of [structCount, client, clock]) encoding.writeVarUint(encoder, number)
    if (cut > 0) {
      encoding.writeUint8(encoder, contentRefs.gc)
      encoding.writeVarUint(encoder, cut)
    }
    encoding.writeUint8Array(encoder, bytes.subarray(from, to))
  }
  encoding.writeUint8Array(encoder, deletes)
  return encoding.toUint8Array(encoder)
}
