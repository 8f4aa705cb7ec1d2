/** A Yjs document as it is stored: a snapshot and the updates after it. */
export type Parts = readonly Uint8Array[]

/** Parts one behind the other: thousands of small ones would cost too much to send to a thread. */
export interface PackedParts {
  bytes: Uint8Array
  sizes: Float64Array
}

export function sizeOf(parts: Parts): number {
  let size = 0
  for (const { length } of parts) size += length
  return size
}

/** Copies: a part may be a view of a large buffer that others use. */
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

/** How long a thread may be busy with a document of that size; most take a hundredth of it. */
export const timeLimitFor = (bytes: number) =>
  Math.min(timeLimit.maxMs, timeLimit.ms + bytes * timeLimit.msPerByte)

/** Neighbours together, as many as the limit allows, and at least one. */
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
