import { createDecoder, hasContent, readVarString, readVarUint, readVarUint8Array } from 'lib0/decoding'
import { createEncoder, toUint8Array, writeVarString, writeVarUint, writeVarUint8Array } from 'lib0/encoding'
import type { LogRow } from '../bus.ts'

/** Larger rows are not sent. The receivers read them. */
const maxRowBytes = 32 * 1024

/** The row as a message, with its data if a message may carry it. */
export function encodeRow({ seq, createdAt, owners, bytes }: LogRow, carriesData: boolean): Uint8Array {
  const encoder = createEncoder()
  writeVarUint(encoder, seq)
  if (carriesData && bytes.length <= maxRowBytes) {
    writeVarUint(encoder, createdAt)
    writeVarUint(encoder, owners.length)
    for (const [clientId, userId] of owners) {
      writeVarUint(encoder, clientId)
      writeVarString(encoder, userId)
    }
    writeVarUint8Array(encoder, bytes)
  }
  return toUint8Array(encoder)
}

/** The number of the newest row, if it is known, and its data, if the message carries it. */
export function decodeRow(body: Uint8Array): { seq: number | undefined; row: LogRow | undefined } {
  const decoder = createDecoder(body)
  if (!hasContent(decoder)) return { seq: undefined, row: undefined }
  const seq = readVarUint(decoder)
  if (!hasContent(decoder)) return { seq, row: undefined }
  const createdAt = readVarUint(decoder)
  const owners = Array.from(
    { length: readVarUint(decoder) },
    () => [readVarUint(decoder), readVarString(decoder)] as const,
  )
  // A copy: the message is part of a larger buffer.
  const bytes = Uint8Array.from(readVarUint8Array(decoder))
  return { seq, row: { seq, createdAt, owners, bytes } }
}
