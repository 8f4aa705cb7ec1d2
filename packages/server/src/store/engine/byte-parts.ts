import { setImmediate } from 'node:timers/promises'

/** One statement reads or writes at most this many bytes: 1 MiB holds the event loop for 5 to 10 ms, on both databases. */
export const maxPartBytes = 1024 * 1024

/** Splits bytes into parts of the same length. The last part may be shorter. */
export function* inParts(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at === 0 || at < bytes.length; at += maxPartBytes) {
    yield bytes.subarray(at, at + maxPartBytes)
  }
}

export const countParts = (bytes: Uint8Array): number => Math.max(1, Math.ceil(bytes.length / maxPartBytes))

/** Joins the parts of a value. Reads the parts after the first one by one. Returns null if one is missing. */
export async function joinParts(
  first: Uint8Array,
  count: number,
  read: (part: number) => Promise<Uint8Array | undefined>,
): Promise<Uint8Array | null> {
  if (count === 1) return first
  // Each part is copied when it arrives: copying 32 MiB at the end would hold the event loop for 30 ms.
  const whole = new Uint8Array(first.length * count)
  whole.set(first)
  let length = first.length
  for (let part = 1; part < count; part++) {
    const bytes = await read(part)
    if (bytes === undefined) return null
    whole.set(bytes, length)
    length += bytes.length
    await setImmediate()
  }
  return whole.subarray(0, length)
}
