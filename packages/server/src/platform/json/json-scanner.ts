import { InvalidJson, type JsonLimits } from './invalid-json.ts'
import {
  behindNumber,
  behindNumbers,
  behindSimpleString,
  isDigit,
  isEscaped,
  isProto,
  proto,
  protoBytes,
  maxSimpleStringBytes,
  startsNumber,
} from './json-tokens.ts'

export interface JsonOptions {
  /** The name of the value in messages. Default: `A value`. */
  subject?: string
  /**
   * Whether the scanner does not look inside strings, which is faster. Then a parser must read the text afterwards: it finds
   * bad characters and removes `__proto__` keys, which the scanner accepts in this case.
   */
  skipsStrings?: boolean
  /** With `data`, the scanner finds the values at `data.data`: those of the field `data` in the top-level object `data`. */
  field?: string
}

/** The indexes of the first byte of a value and of the first byte behind it. */
export interface Span {
  from: number
  to: number
}

/** Throws `InvalidJson` unless the bytes, in UTF-8, are JSON within the limits and without `__proto__` keys. */
export function checkJson(bytes: Uint8Array, from: number, to: number, limits: JsonLimits): void {
  new JsonScanner(bytes, limits, undefined, from, to).scan()
}

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const comma = 0x2c
const minus = 0x2d
export const openBrace = 0x7b
export const openBracket = 0x5b
const closeBrace = 0x7d
const closeBracket = 0x5d

/** The length of an escape such as `\udc00`. */
const escapeLength = 6
const simpleEscapes = '"\\/bfnrt'
const words = ['true', 'false', 'null']

// The values of `expected`: what may come next.
const expectsValue = 0
/** After `[`. */
const expectsValueOrClose = 1
const expectsKey = 2
/** After `{`. */
const expectsKeyOrClose = 3
const expectsColon = 4
/** Behind a value. */
const expectsCommaOrClose = 5

/**
 * Reads JSON in UTF-8 before a parser spends memory, stack and time on it: checks its grammar and its limits, and finds
 * the value of one field. It is a loop that can pause, because 10 MiB of objects take 60 ms. Throws `InvalidJson`.
 */
export class JsonScanner {
  /** How many keys were read, without those inside the searched field. */
  keys = 0
  /** How many arrays, objects, and strings that are not keys were read, without those inside the searched field. */
  values = 0
  /** How deep arrays and objects are nested. */
  depth = 0

  private readonly bytes: Uint8Array
  private readonly end: number
  private readonly maxDepth: number
  private readonly maxKeys: number
  private readonly maxValues: number
  private readonly subject: string
  private readonly skipsStrings: boolean
  /** The key of the searched field, in quotes. */
  private readonly field: Buffer | undefined
  private at: number
  private expected = expectsValue
  /** How many brackets are open. */
  private open = 0
  /** One bit for each of the innermost open brackets: 1 for a brace. The lowest bit is the innermost bracket. */
  private kinds = 0
  /** The bits of the brackets around those in `kinds`, 32 in each number. */
  private outerKinds: number[] | undefined
  private isInString = false
  private isKey = false
  private hasEscape = false
  private stringFrom = 0
  private stringTo = 0
  private topKeyFrom = 0
  private topKeyTo = 0
  private hasNul = false
  private unpairedSurrogates = 0
  /** Where the escape of the last high surrogate ended. */
  private highSurrogateEnd = -1
  /** Whether the scanner is inside the field at the top. */
  private isInField = false
  /** Whether the next value is a searched one. */
  private isSpanNext = false
  /** Where the searched value begins that is being read. −1: none is being read. */
  private spanFrom = -1
  private spans: Span[] | undefined

  constructor(
    bytes: Uint8Array,
    limits: JsonLimits,
    options?: JsonOptions,
    from = 0,
    to: number = bytes.length,
  ) {
    this.bytes = bytes
    this.at = from
    this.end = to
    this.maxDepth = limits.depth
    this.maxKeys = limits.keys ?? Infinity
    this.maxValues = limits.values ?? Infinity
    this.subject = options?.subject ?? 'A value'
    this.skipsStrings = options?.skipsStrings ?? false
    this.field = options?.field === undefined ? undefined : Buffer.from(`"${options.field}"`)
  }

  /** Reads about `maxBytes` further. Returns true when all bytes are read. */
  scan(maxBytes = Infinity): boolean {
    const until = Math.min(this.end, this.at + maxBytes)
    while (this.at < until) {
      if (!this.isInString) this.scanStructure(until)
      else if (this.skipsStrings) this.skipString(until)
      else this.checkString(until)
    }
    if (this.at < this.end) return false
    if (this.isInString || this.open > 0 || this.expected !== expectsCommaOrClose) this.malformed()
    return true
  }

  /** The searched values that were found: strings, arrays and objects. A repeated field has several. */
  get found(): readonly Span[] {
    return this.spans ?? []
  }

  /** Whether a string or a key has an escaped NUL character or unpaired surrogate. False with `skipsStrings`. */
  get hasUnstorableText(): boolean {
    return this.hasNul || this.unpairedSurrogates > 0
  }

  /** The last key at the top, as it is written in the text. */
  get topKey(): string {
    return Buffer.from(this.bytes.subarray(this.topKeyFrom, this.topKeyTo)).toString()
  }

  /** Reads up to the next string that is long or has escapes. Keeps its state in local variables: fields are slower. */
  private scanStructure(until: number): void {
    const { bytes } = this
    let { at, expected, open, kinds } = this
    while (at < until) {
      const byte = bytes[at] as number
      if (byte === quote) {
        const behind = behindSimpleString(bytes, at + 1, until)
        const isKey = (expected & 6) === expectsKey
        const isSimple = isKey ? open > 2 && behind - at !== protoBytes : !this.isSpanNext
        if (behind > 0 && isSimple && expected <= expectsKeyOrClose) {
          if (this.spanFrom < 0) {
            if (isKey) this.countKey(at)
            else this.countValue(at)
          }
          expected = isKey ? expectsColon : expectsCommaOrClose
          at = behind
          continue
        }
        this.at = at
        this.expected = expected
        this.open = open
        this.kinds = kinds
        return this.beginString()
      }
      if (byte === comma) {
        if (expected !== expectsCommaOrClose || open === 0) this.malformed(at)
        if (open === 1) this.isInField = false
        at++
        if ((kinds & 1) === 1) expected = expectsKey
        else {
          expected = expectsValue
          if (startsNumber(bytes[at])) at = behindNumbers(bytes, at, until)
        }
      } else if (byte === colon) {
        if (expected !== expectsColon) this.malformed(at)
        expected = expectsValue
        at++
      } else if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        at++
      } else if (byte === openBracket || byte === openBrace) {
        if (expected > expectsValueOrClose) this.malformed(at)
        if (this.isSpanNext) this.beginSpan(at)
        if (this.spanFrom < 0) this.countValue(at)
        if (open === this.maxDepth) this.refuseDepth(at)
        if ((open & 31) === 0 && open > 0) kinds = this.spillKinds(kinds)
        if (++open > this.depth) this.depth = open
        at++
        if (byte === openBrace) {
          kinds = (kinds << 1) | 1
          expected = expectsKeyOrClose
        } else {
          kinds <<= 1
          expected = expectsValueOrClose
          if (startsNumber(bytes[at])) {
            const behind = behindNumbers(bytes, at, until)
            if (behind > at) expected = expectsValue
            at = behind
          }
        }
      } else if (byte === closeBracket || byte === closeBrace) {
        const isEmpty = expected === (byte === closeBrace ? expectsKeyOrClose : expectsValueOrClose)
        if (!isEmpty && expected !== expectsCommaOrClose) this.malformed(at)
        if (open === 0 || (kinds & 1) !== (byte === closeBrace ? 1 : 0)) this.malformed(at)
        kinds >>>= 1
        if ((--open & 31) === 0 && open > 0) kinds = this.outerKinds?.pop() ?? 0
        at++
        expected = expectsCommaOrClose
        if (open === 2 && this.spanFrom >= 0) this.endSpan(at)
      } else {
        if (expected > expectsValueOrClose) this.malformed(at)
        at = this.behindScalar(at, byte)
        expected = expectsCommaOrClose
      }
    }
    this.at = at
    this.expected = expected
    this.open = open
    this.kinds = kinds
  }

  /** Stores the bits of 32 brackets. Returns the empty bits for the brackets inside them. */
  private spillKinds(kinds: number): number {
    const outer = (this.outerKinds ??= [])
    outer.push(kinds)
    return 0
  }

  private behindScalar(at: number, first: number): number {
    const { bytes, end } = this
    this.isSpanNext = false
    if (first === minus || isDigit(first)) {
      const behind = behindNumber(bytes, at, end)
      return behind < 0 ? this.malformed(at) : behind
    }
    const word = words.find((one) => one.charCodeAt(0) === first) ?? this.malformed(at)
    if (at + word.length > end) this.malformed(at)
    for (let i = 1; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) this.malformed(at)
    return at + word.length
  }

  private beginSpan(at: number): void {
    this.isSpanNext = false
    this.spanFrom = at
  }

  private endSpan(to: number): void {
    const spans = (this.spans ??= [])
    spans.push({ from: this.spanFrom, to })
    this.spanFrom = -1
  }

  private countValue(at: number): void {
    if (++this.values <= this.maxValues) return
    const message = `${this.subject} has more than ${this.maxValues} strings, arrays and objects.`
    throw new InvalidJson('too_large', message, at, 'values')
  }

  private countKey(at: number): void {
    if (++this.keys <= this.maxKeys) return
    throw new InvalidJson('too_large', `${this.subject} has more than ${this.maxKeys} keys.`, at, 'keys')
  }

  private refuseDepth(at: number): never {
    const message = `${this.subject} is nested deeper than ${this.maxDepth}.`
    throw new InvalidJson('too_large', message, at, 'depth')
  }

  private beginString(): void {
    const { at, expected } = this
    this.isKey = expected === expectsKey || expected === expectsKeyOrClose
    if (!this.isKey && expected > expectsValueOrClose) this.malformed(at)
    if (this.isSpanNext) this.beginSpan(at)
    if (this.spanFrom < 0) {
      if (this.isKey) this.countKey(at)
      else this.countValue(at)
    }
    this.isInString = true
    this.hasEscape = false
    this.stringFrom = at
    this.at = at + 1
  }

  private endString(behind: number): void {
    this.isInString = false
    this.stringTo = behind
    this.at = behind
    if (this.isKey) {
      this.expected = expectsColon
      return this.endKey()
    }
    this.expected = expectsCommaOrClose
    if (this.spanFrom === this.stringFrom) this.endSpan(behind)
  }

  private endKey(): void {
    if (!this.skipsStrings && isProto(this.bytes, this.stringFrom, this.stringTo, this.hasEscape)) {
      throw new InvalidJson('forbidden', `${proto} is not allowed as a key.`, this.at)
    }
    if (this.open === 1) {
      this.topKeyFrom = this.stringFrom + 1
      this.topKeyTo = this.stringTo - 1
    }
    if (this.field === undefined || this.open > 2 || this.spanFrom >= 0) return
    const isField = this.field.equals(this.bytes.subarray(this.stringFrom, this.stringTo))
    if (this.open === 1) this.isInField = isField
    else this.isSpanNext = isField && this.isInField
  }

  private checkString(until: number): void {
    const { bytes } = this
    let at = this.at
    while (at < until) {
      const byte = bytes[at++] as number
      if (byte === quote) return this.endString(at)
      if (byte === backslash) {
        this.at = at
        this.checkEscape()
        at = this.at
      } else if (byte < 0x20) {
        this.at = at - 1
        this.malformed()
      }
    }
    this.at = at
  }

  private checkEscape(): void {
    this.hasEscape = true
    const byte = this.at < this.end ? (this.bytes[this.at++] as number) : -1
    if (byte !== 0x75) {
      if (byte < 0 || !simpleEscapes.includes(String.fromCharCode(byte))) this.malformed()
      return
    }
    let unit = 0
    for (let i = 0; i < 4; i++) unit = unit * 16 + this.hexDigit()
    if (unit === 0) this.hasNul = true
    else if (unit >= 0xd800 && unit <= 0xdfff) this.pairSurrogate(unit)
  }

  private pairSurrogate(unit: number): void {
    if (unit < 0xdc00) {
      this.unpairedSurrogates++
      this.highSurrogateEnd = this.at
    } else if (this.highSurrogateEnd === this.at - escapeLength) this.unpairedSurrogates--
    else this.unpairedSurrogates++
  }

  private hexDigit(): number {
    const byte = this.at < this.end ? (this.bytes[this.at++] as number) : -1
    if (isDigit(byte)) return byte - 0x30
    const letter = byte | 0x20
    if (letter < 0x61 || letter > 0x66) this.malformed()
    return letter - 0x57
  }

  private skipString(until: number): void {
    const { bytes, end } = this
    let plain = 0
    for (let at = this.at; at < until; at++) {
      const byte = bytes[at] as number
      if (byte === quote) return this.endString(at + 1)
      if (byte === backslash) {
        at++
        plain = 0
      } else if (++plain === maxSimpleStringBytes) {
        const next = bytes.indexOf(quote, at)
        if (next < 0 || next >= end) return void (this.at = end)
        if (!isEscaped(bytes, next)) return this.endString(next + 1)
        at = next
        plain = 0
      }
      this.at = at + 1
    }
  }

  private malformed(at = this.at): never {
    throw new InvalidJson('malformed', `${this.subject} is not JSON.`, at)
  }
}
