// Bytes are compared with literals: with named constants, 10 MiB of numbers take up to a third longer.

export const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39

function behindDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  // Without `isDigit`, because the call of an exported function costs a third more.
  for (; at < end; at++) if ((bytes[at] as number) < 0x30 || (bytes[at] as number) > 0x39) break
  return at
}

/** Returns where the JSON number that begins at `start` ends, or −1 if none begins there. */
export function behindNumber(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start] === 0x2d ? start + 1 : start
  let at = behindDigits(bytes, first, end)
  if (at === first || (bytes[first] === 0x30 && at > first + 1)) return -1
  if (at < end && bytes[at] === 0x2e) {
    const fraction = at + 1
    at = behindDigits(bytes, fraction, end)
    if (at === fraction) return -1
  }
  if (at < end && ((bytes[at] as number) | 0x20) === 0x65) {
    const sign = bytes[at + 1]
    const exponent = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1
    at = behindDigits(bytes, exponent, end)
    if (at <= exponent) return -1
  }
  return at
}

/**
 * Skips the numbers from `start` on that have a comma behind them. Returns the index behind the last of these commas. A
 * message can contain half a million numbers. A thread that has just started would need 100 ms to read them all as values.
 */
export function behindNumbers(bytes: Uint8Array, start: number, end: number): number {
  let behind = start
  for (;;) {
    const at = behindNumber(bytes, behind, end)
    if (at < 0 || at >= end || bytes[at] !== 0x2c) return behind
    behind = at + 1
  }
}

export const startsNumber = (byte: number | undefined) =>
  byte !== undefined && (byte === 0x2d || isDigit(byte))

/** After this many bytes without a quote, a search for the next quote is faster than a loop. */
export const maxSimpleStringBytes = 64

/**
 * Returns where a simple string ends. Returns −1 if the string has escapes or control characters, is long, or does not end
 * before `until`. Most strings are simple, and this takes half the time of `beginString` and `checkString`.
 */
export function behindSimpleString(bytes: Uint8Array, from: number, until: number): number {
  const end = Math.min(until, from + maxSimpleStringBytes)
  for (let at = from; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === 0x22) return at + 1
    if (byte === 0x5c || byte < 0x20) return -1
  }
  return -1
}

/** Whether the quote at this index is part of an escape. */
export function isEscaped(bytes: Uint8Array, at: number): boolean {
  let first = at
  while (bytes[first - 1] === 0x5c) first--
  return (at - first) % 2 === 1
}

export const proto = '__proto__'
/** The length of the key in quotes. */
export const protoBytes = proto.length + 2
/** The length of the key in quotes if each character is written as an escape such as `\u005f`. */
const maxProtoBytes = proto.length * 6 + 2

/** Whether a valid string in quotes is `__proto__`. */
export function isProto(bytes: Uint8Array, from: number, to: number, hasEscape: boolean): boolean {
  if (to - from !== protoBytes && (!hasEscape || to - from > maxProtoBytes)) return false
  return JSON.parse(Buffer.from(bytes.subarray(from, to)).toString()) === proto
}
