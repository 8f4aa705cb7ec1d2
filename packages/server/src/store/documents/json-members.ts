const bytesOf = (text: string) => Buffer.byteLength(text)

/** Of an object without members. */
const emptyBytes = 2

/** An object as JSON. Laying keys over it costs what they are long once its members are known. */
export class JsonMembers {
  /** Undefined while `#members` is newer. */
  #json: string | undefined
  /** Undefined until something is laid over them. */
  #members: Map<string, string> | undefined
  #bytes: number

  /** As `JSON.stringify` writes it. */
  constructor(json = '{}') {
    this.#json = json
    this.#bytes = bytesOf(json)
  }

  get bytes(): number {
    return this.#bytes
  }

  get isEmpty(): boolean {
    return this.#bytes === emptyBytes
  }

  /** Lays the keys of an object over it, one level deep. False, and nothing has changed, if the whole would be larger than that. */
  lay(json: string, maxBytes: number): boolean {
    if (this.isEmpty) return this.#become(json, maxBytes)
    const members = (this.#members ??= new Map(membersIn(String(this))))
    const sent = [...membersIn(json)]
    let bytes = this.#bytes
    for (const [key, value] of sent) {
      const before = members.get(key)
      // A new member also has a comma and a colon.
      bytes += bytesOf(value) + (before === undefined ? bytesOf(key) + 2 : -bytesOf(before))
    }
    if (bytes > maxBytes) return false
    for (const [key, value] of sent) members.set(key, value)
    this.#bytes = bytes
    this.#json = undefined
    return true
  }

  #become(json: string, maxBytes: number): boolean {
    const bytes = bytesOf(json)
    if (bytes > maxBytes) return false
    this.#json = json
    this.#members = undefined
    this.#bytes = bytes
    return true
  }

  toString(): string {
    this.#json ??= `{${Array.from(this.#members ?? [], ([key, value]) => `${key}:${value}`).join()}}`
    return this.#json
  }
}

/** The one object with the keys of the other laid over it; undefined if that would be larger. 1 MiB of each take 40 ms. */
export function mergeJson(below: string, above: string, maxBytes: number): string | undefined {
  const members = new JsonMembers(below)
  return members.lay(above, maxBytes) ? String(members) : undefined
}

/** Both are JSON. Keys that are equal are written alike. */
type Member = [key: string, value: string]

/** Characters by their code: a comparison with a string, or a look into a set, takes several times as long. */
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * The members of an object as `JSON.stringify` or `JsonMembers` wrote it, cut out as they are. That takes a third of the
 * time of parsing and writing them.
 */
function* membersIn(json: string): Generator<Member> {
  for (let at = 1; at < json.length - 1;) {
    const keyEnd = endOfString(json, at)
    const valueEnd = endOfValue(json, keyEnd + 1)
    yield [json.slice(at, keyEnd), json.slice(keyEnd + 1, valueEnd)]
    at = valueEnd + 1
  }
}

function endOfValue(json: string, start: number): number {
  for (let at = start, depth = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) at = endOfString(json, at) - 1
    else if (code === openArray || code === openObject) depth++
    else if (code === comma && depth === 0) return at
    else if (code === closeArray || code === closeObject) {
      if (depth === 0) return at
      depth--
    }
  }
  return json.length
}

/** Behind the closing quote of the string that begins there. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) return at + 1
    if (code === backslash) at++
  }
  return json.length
}
