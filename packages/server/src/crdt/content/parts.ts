/** A stored Yjs document: a snapshot and the updates after it. */
export type Parts = readonly Uint8Array[]

/** Parts joined into one array: sending thousands of small arrays to a thread costs too much. */
export interface PackedParts {
  bytes: Uint8Array
  sizes: Float64Array
}

export function sizeOf(parts: Parts): number {
  let size = 0
  for (const { length } of parts) size += length
  return size
}

/** Copies the bytes: a part may be a view of a larger buffer that is still used. */
export function pack(parts: Parts): PackedParts {
  const bytes = new Uint8Array(sizeOf(parts))
  let end = 0
  for (const part of parts) {
    bytes.set(part, end)
    end += part.length
  }
  return { bytes, sizes: Float64Array.from(parts, ({ length }) => length) }
}

export function unpack({ bytes, sizes }: PackedParts): Uint8Array[] {
  let end = 0
  return Array.from(sizes, (size) => bytes.subarray(end, (end += size)))
}

const timeLimit = { ms: 5_000, msPerByte: 0.01, maxMs: 30_000 }

/** The time limit of a thread for a document of this size. Most documents take a hundredth of it. */
export const timeLimitFor = (bytes: number) =>
  Math.min(timeLimit.maxMs, timeLimit.ms + bytes * timeLimit.msPerByte)

/** Groups neighbouring parts, as many as the limit allows and at least one. */
export function batches(parts: Parts, limit: { parts: number; bytes: number }): Uint8Array[][] {
  const result: Uint8Array[][] = []
  let batch: Uint8Array[] = []
  let bytes = 0
  for (const part of parts) {
    if (batch.length === 0 || batch.length === limit.parts || bytes + part.length > limit.bytes) {
      batch = []
      bytes = 0
      result.push(batch)
    }
    batch.push(part)
    bytes += part.length
  }
  return result
}
