const bytesOf = (text: string) => Buffer.byteLength(text)

/**
 * An object as the JSON of its members: laying keys over it costs what they are long, not what the whole is long, and so
 * does knowing its size.
 */
export class JsonMembers {
  readonly #members = new Map<string, string>()
  /** Of the whole as JSON. */
  #bytes = 2

  constructor(object: Readonly<Record<string, unknown>> = {}) {
    this.#lay(jsonOf(object))
  }

  get bytes(): number {
    return this.#bytes
  }

  /** One level deep. False, and nothing has changed, if the whole would be larger than that. */
  lay(object: Readonly<Record<string, unknown>>, mostBytes: number): boolean {
    const members = jsonOf(object)
    let bytes = this.#bytes
    for (const member of members) bytes += this.#growth(member)
    if (bytes - (this.#members.size === 0 && members.length > 0 ? 1 : 0) > mostBytes) return false
    this.#lay(members)
    return true
  }

  #growth([key, json]: Member): number {
    const before = this.#members.get(key)
    // A quoted name, a colon and a comma, which all members but the first have.
    return before === undefined
      ? bytesOf(JSON.stringify(key)) + bytesOf(json) + 2
      : bytesOf(json) - bytesOf(before)
  }

  #lay(members: readonly Member[]): void {
    for (const member of members) {
      this.#bytes += this.#growth(member) - (this.#members.size === 0 ? 1 : 0)
      this.#members.set(...member)
    }
  }

  toString(): string {
    return `{${[...this.#members].map(([key, json]) => `${JSON.stringify(key)}:${json}`).join()}}`
  }
}

type Member = [key: string, json: string]

const jsonOf = (object: Readonly<Record<string, unknown>>) =>
  Object.entries(object).map(([key, value]): Member => [key, JSON.stringify(value)])
