import * as encoding from 'lib0/encoding'

/** Encodes numbers as variable-length integers, and strings and bytes with their length before them. */
export const encodeMessage = (...parts: readonly (number | string | Uint8Array)[]): Uint8Array =>
  encoding.encode((encoder) => {
    for (const part of parts) {
      if (typeof part === 'number') encoding.writeVarUint(encoder, part)
      else if (typeof part === 'string') encoding.writeVarString(encoder, part)
      else encoding.writeVarUint8Array(encoder, part)
    }
  })
