import { Refusal } from '../../crdt/updates/update-reader.ts'

interface JsonLimits {
  depth: number
  keys?: number
  values?: number
}

/** Accepts what `JSON.parse` accepts, from bytes known to be UTF-8, without making the value. Throws a `Refusal`. */
export function checkJson(bytes: Uint8Array, from: number, to: number, limits: JsonLimits): void {
  new JsonScanner(bytes, from, to, limits).document()
}

const proto = '__proto__'
const quote = 0x22
const backslash = 0x5c
/** Of `\\udc00`. */
const escapeLength = 6
const simpleEscapes = '"\\/bfnrt'

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39

function behindDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isDigit(bytes[at] as number)) at++
  return at
}

/** Behind the number that begins there; −1 if none does. */
function behindNumber(bytes: Uint8Array, start: number, end: number): number {
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
 * Behind the numbers that begin there, each with a comma. A message can hold half a million of them; a thread that has
 * just started needs 100 ms for them if each is read as a value.
 */
function behindNumbers(bytes: Uint8Array, start: number, end: number): number {
  let behind = start
  for (;;) {
    const at = behindNumber(bytes, behind, end)
    if (at < 0 || at >= end || bytes[at] !== 0x2c) return behind
    behind = at + 1
  }
}

export class JsonScanner {
  private readonly bytes: Uint8Array
  private at: number
  private readonly end: number
  private readonly maxDepth: number
  private readonly maxKeys: number
  private readonly maxValues: number
  /** How messages call the value. */
  private readonly subject: string
  private keys = 0
  /** Strings that are no keys, arrays and objects. */
  private values = 0
  private fieldFrom = 0
  private fieldTo = 0
  private hasNul = false
  private unpaired = 0
  /** Where the escape of a high surrogate has ended. */
  private highEnd = -1

  constructor(bytes: Uint8Array, from: number, to: number, limits: JsonLimits, subject = 'A value') {
    this.bytes = bytes
    this.at = from
    this.end = to
    this.maxDepth = limits.depth
    this.maxKeys = limits.keys ?? Infinity
    this.maxValues = limits.values ?? Infinity
    this.subject = subject
  }

  document(): void {
    this.value(this.maxDepth)
    if (this.at < this.end) this.malformed()
  }

  /** Whether a string or a key has a NUL character or an unpaired surrogate: UTF-8 JSON has them as escapes only. */
  get hasUnstorableText(): boolean {
    return this.hasNul || this.unpaired > 0
  }

  /** The key at the top that is being read, as it is written. */
  get field(): string {
    return Buffer.from(this.bytes.subarray(this.fieldFrom, this.fieldTo)).toString()
  }

  private value(depth: number): void {
    this.space()
    const byte = this.peek()
    if (byte === quote || byte === 0x7b || byte === 0x5b) this.countValue()
    if (byte === quote) this.string()
    else if (byte === 0x7b || byte === 0x5b) this.members(byte === 0x7b, depth)
    else if (byte === 0x2d || isDigit(byte)) this.number()
    else if (byte === 0x74) this.word('true')
    else if (byte === 0x66) this.word('false')
    else this.word('null')
    this.space()
  }

  private countValue(): void {
    if (++this.values <= this.maxValues) return
    this.refuse('too_large', `${this.subject} has more than ${this.maxValues} strings, arrays and objects.`)
  }

  private members(hasKeys: boolean, depth: number): void {
    if (depth === 0) this.refuse('too_large', `${this.subject} is nested deeper than ${this.maxDepth}.`)
    const close = hasKeys ? 0x7d : 0x5d
    this.at++
    this.space()
    if (this.skips(close)) return
    do {
      if (hasKeys) this.key(depth === this.maxDepth)
      else this.at = behindNumbers(this.bytes, this.at, this.end)
      this.value(depth - 1)
    } while (this.skips(0x2c))
    this.take(close)
  }

  private key(isAtTop: boolean): void {
    if (++this.keys > this.maxKeys) {
      this.refuse('too_large', `${this.subject} has more than ${this.maxKeys} keys.`)
    }
    this.space()
    const from = this.at
    if (this.string() === proto.length) this.refuse('forbidden', `${proto} is not allowed as a key.`)
    if (isAtTop) {
      this.fieldFrom = from + 1
      this.fieldTo = this.at - 1
    }
    this.space()
    this.take(0x3a)
  }

  /** Answers how many characters it has of `__proto__`; −1 when it is another string. */
  private string(): number {
    let matched = 0
    this.take(quote)
    for (;;) {
      const byte = this.peek()
      if (byte < 0x20) this.malformed()
      this.at++
      if (byte === quote) return matched
      const unit = byte === backslash ? this.escape() : byte
      matched = matched >= 0 && unit === proto.charCodeAt(matched) ? matched + 1 : -1
    }
  }

  private escape(): number {
    const byte = this.peek()
    this.at++
    if (byte !== 0x75) {
      if (byte < 0 || !simpleEscapes.includes(String.fromCharCode(byte))) this.malformed()
      // None of them stands for a character of the forbidden key.
      return 0
    }
    let unit = 0
    for (let i = 0; i < 4; i++) unit = unit * 16 + this.hexDigit()
    if (unit === 0) this.hasNul = true
    else if (unit >= 0xd800 && unit <= 0xdfff) this.surrogate(unit)
    return unit
  }

  private surrogate(unit: number): void {
    if (unit < 0xdc00) {
      this.unpaired++
      this.highEnd = this.at
    } else if (this.highEnd === this.at - escapeLength) this.unpaired--
    else this.unpaired++
  }

  private hexDigit(): number {
    const byte = this.peek()
    this.at++
    if (isDigit(byte)) return byte - 0x30
    const letter = byte | 0x20
    if (letter < 0x61 || letter > 0x66) this.malformed()
    return letter - 0x57
  }

  private number(): void {
    const behind = behindNumber(this.bytes, this.at, this.end)
    if (behind < 0) this.malformed()
    this.at = behind
  }

  private word(word: string): void {
    for (let i = 0; i < word.length; i++) this.take(word.charCodeAt(i))
  }

  private space(): void {
    let byte = this.peek()
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      this.at++
      byte = this.peek()
    }
  }

  private skips(byte: number): boolean {
    if (this.peek() !== byte) return false
    this.at++
    return true
  }

  private take(byte: number): void {
    if (!this.skips(byte)) this.malformed()
  }

  private peek(): number {
    return this.at < this.end ? (this.bytes[this.at] as number) : -1
  }

  private malformed(): never {
    this.refuse('malformed', `${this.subject} is not JSON.`)
  }

  private refuse(code: 'malformed' | 'too_large' | 'forbidden', message: string): never {
    throw new Refusal({ code, message, at: this.at })
  }
}
