import { type Fault, type Missing, Refusal } from './fault.ts'

const proto = '__proto__'

/** Reads the encoding of lib0. Compares each length with the remaining bytes before it uses the length. */
export class UpdateReader {
  at = 0
  readonly bytes: Uint8Array
  private readonly allowsProto: boolean
  private stringFrom = 0

  constructor(bytes: Uint8Array, allowsProto = false) {
    this.bytes = bytes
    this.allowsProto = allowsProto
  }

  get bytesLeft(): number {
    return this.bytes.length - this.at
  }

  refuse(code: Fault['code'], message: string, missing?: Missing): never {
    throw new Refusal({ code, message, at: this.at, ...(missing && { missing }) })
  }

  byte(): number {
    const byte = this.bytes[this.at]
    if (byte === undefined) this.refuse('malformed', 'The update ends too early.')
    this.at++
    return byte
  }

  uint(): number {
    const first = this.byte()
    return first < 0x80 ? first : this.moreOf(first & 0x7f, 0x80)
  }

  /** Skips a signed number, whose sign is in the first byte. */
  int(): void {
    const first = this.byte()
    if (first >= 0x80) this.moreOf(first & 0x3f, 0x40)
  }

  /**
   * Reads the rest of a number. Eight bytes are enough for numbers below 2^53. lib0 also reads longer numbers, and may
   * return NaN.
   */
  private moreOf(start: number, firstFactor: number): number {
    let value = start
    let factor = firstFactor
    for (let i = 0; i < 7; i++) {
      const byte = this.byte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break
        return value
      }
      factor *= 0x80
    }
    return this.refuse('malformed', 'A number is too large.')
  }

  /** Reads how many elements follow. Each has at least `size` bytes. */
  count(size: number): number {
    const count = this.uint()
    if (count * size > this.bytesLeft) this.refuse('malformed', 'The update ends too early.')
    return count
  }

  skip(length: number): void {
    if (length > this.bytesLeft) this.refuse('malformed', 'The update ends too early.')
    this.at += length
  }

  /** Reads a string. Returns its length in UTF-16 units, as Yjs counts it. */
  string(): number {
    const size = this.uint()
    this.stringFrom = this.at
    this.skip(size)
    const length = utf16Length(this.bytes, this.stringFrom, this.at)
    if (length < 0) this.refuse('malformed', 'A string is not UTF-8.')
    return length
  }

  /** Reads a string that clients use as the key of an object. */
  key(limit: number): void {
    const length = this.string()
    if (length > limit) this.refuse('too_large', `A name is longer than ${limit} characters.`)
    if (!this.allowsProto && this.hasJustRead(proto))
      this.refuse('forbidden', `${proto} is not allowed as a key.`)
  }

  /** Whether the string that was read last equals `text`, which must be ASCII. */
  hasJustRead(text: string): boolean {
    const from = this.stringFrom
    if (this.at - from !== text.length) return false
    for (let i = 0; i < text.length; i++) {
      if (this.bytes[from + i] !== text.charCodeAt(i)) return false
    }
    return true
  }

  /** Where the string that was read last begins and ends. */
  get lastString(): { from: number; to: number } {
    return { from: this.stringFrom, to: this.at }
  }
}

const isTail = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/**
 * Returns the length of a text in UTF-16 units, or −1 where the decoder of Yjs throws: overlong forms, surrogates, invalid code
 * points, truncated characters.
 */
export function utf16Length(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  while (at < to && (bytes[at] as number) < 0x80) at++
  let length = at - from
  while (at < to) {
    const byte = bytes[at] as number
    if (byte < 0x80) {
      at++
      length++
      continue
    }
    const size = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    if (byte < 0xc2 || byte > 0xf4 || at + size > to) return -1
    const second = bytes[at + 1] as number
    if (!isTail(second)) return -1
    if (byte === 0xe0 && second < 0xa0) return -1
    if (byte === 0xed && second > 0x9f) return -1
    if (byte === 0xf0 && second < 0x90) return -1
    if (byte === 0xf4 && second > 0x8f) return -1
    if (size > 2 && !isTail(bytes[at + 2])) return -1
    if (size > 3 && !isTail(bytes[at + 3])) return -1
    at += size
    length += size === 4 ? 2 : 1
  }
  return length
}
