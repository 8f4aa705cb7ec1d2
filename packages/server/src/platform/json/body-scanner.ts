const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const comma = 0x2c
export const openBrace = 0x7b
export const openBracket = 0x5b
const closeBrace = 0x7d
const closeBracket = 0x5d

/** How many letters in a row are looked at one by one, before a search for the next quote is faster. */
const fewLetters = 64

/** Where a value begins and ends. */
export interface Span {
  from: number
  to: number
}

/**
 * Measures JSON in UTF-8 before a parser spends memory, stack and time on it, and finds the value of one field. Works in
 * steps, because 10 MiB take 60 ms. Of bytes that are no JSON it measures something: the parser will refuse them.
 */
export class BodyScanner {
  /** How deep the text nests. */
  depth = 0
  /** Keys, outside of the fields that were looked for. */
  keys = 0
  /** Strings that are no keys, arrays and objects, outside of the fields that were looked for. */
  values = 0
  /** Values of the field, each a string, an array or an object: a repeated field has several. */
  readonly found: Span[] = []
  readonly #bytes: Buffer
  /** The key of the field, in quotes: looked for in the object that is the field of the same name at the top. */
  readonly #field: Buffer | undefined
  #at = 0
  #isInString = false
  #stringFrom = 0
  #stringTo = 0
  #open = 0
  /** Whether the value at the top that is being read is that of the field. */
  #isInField = false
  /** The next value is that of the field. */
  #isExpected = false
  #foundFrom = -1

  constructor(bytes: Buffer, field?: string) {
    this.#bytes = bytes
    this.#field = field === undefined ? undefined : Buffer.from(`"${field}"`)
  }

  /** Goes on for about that many bytes; true when everything is measured. */
  scan(bytes = this.#bytes.length): boolean {
    const until = Math.min(this.#bytes.length, this.#at + bytes)
    while (this.#at < until) {
      if (this.#isInString) this.#skipString(until)
      else this.#scanStructure(until)
    }
    return this.#at >= this.#bytes.length
  }

  #scanStructure(until: number): void {
    const bytes = this.#bytes
    for (let at = this.#at; at < until; at++) {
      const byte = bytes[at] as number
      // Most bytes outside of strings are digits, commas and blanks.
      if (byte === quote) {
        this.#isInString = true
        this.#stringFrom = at
        if (this.#isExpected) this.#begin(at)
        this.#at = at + 1
        return
      }
      if (byte === colon) this.#endKey()
      else if (byte === openBrace || byte === openBracket) this.#enter(at)
      else if (byte === closeBrace || byte === closeBracket) this.#leave(at)
      else if (byte === comma) {
        this.#isExpected = false
        if (this.#open === 1) this.#isInField = false
      }
    }
    this.#at = until
  }

  #skipString(until: number): void {
    const bytes = this.#bytes
    let letters = 0
    for (let at = this.#at; at < until; at++) {
      const byte = bytes[at] as number
      if (byte === quote) return this.#endString(at)
      if (byte === backslash) {
        at++
        letters = 0
      } else if (++letters === fewLetters) {
        const next = bytes.indexOf(quote, at)
        if (next < 0) return void (this.#at = bytes.length)
        if (!isEscaped(bytes, next)) return this.#endString(next)
        at = next
        letters = 0
      }
      this.#at = at + 1
    }
  }

  #endString(at: number): void {
    this.#isInString = false
    this.#stringTo = at + 1
    this.#at = at + 1
    if (this.#foundFrom < 0) this.values++
    else if (this.#foundFrom === this.#stringFrom) this.#end(at + 1)
  }

  /** The last string was a key. */
  #endKey(): void {
    if (this.#foundFrom >= 0) return
    this.keys++
    this.values--
    if (this.#open > 2 || !this.#field) return
    const key = this.#bytes.subarray(this.#stringFrom, this.#stringTo)
    const isField = key.length === this.#field.length && key.equals(this.#field)
    if (this.#open === 1) this.#isInField = isField
    else this.#isExpected = isField && this.#isInField
  }

  #enter(at: number): void {
    if (this.#isExpected) this.#begin(at)
    if (this.#foundFrom < 0) this.values++
    this.depth = Math.max(this.depth, ++this.#open)
  }

  #leave(at: number): void {
    this.#open--
    this.#isExpected = false
    if (this.#foundFrom >= 0 && this.#open === 2) this.#end(at + 1)
  }

  #begin(at: number): void {
    this.#isExpected = false
    this.#foundFrom = at
  }

  #end(at: number): void {
    this.found.push({ from: this.#foundFrom, to: at })
    this.#foundFrom = -1
  }
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let first = at
  while (bytes[first - 1] === backslash) first--
  return (at - first) % 2 === 1
}
