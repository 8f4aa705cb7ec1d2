import * as encoding from 'lib0/encoding'
import { contentRefs } from './update-contents.ts'

/** The structs of one client to write. */
export interface Section {
  client: number
  /** The clock of the first struct. */
  clock: number
  structCount: number
  /** The length of a first struct that is collected and lost its beginning; 0 if there is none. */
  cut: number
  /** The bytes of the other structs. */
  from: number
  to: number
}

/** Writes an update from sections of another one and the bytes of a delete set. */
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
