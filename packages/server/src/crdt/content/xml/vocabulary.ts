import { isDeepStrictEqual } from 'node:util'
import { UnfitContent } from '../errors.ts'
import { plain, sizeError } from '../values.ts'
import { formatNames, isForeign, type Kind, kindsOfAttributes, type Names } from './editor-names.ts'
import { type Mark, printedValue, type StoredUnit } from './stored-units.ts'
import { printableName, type XmlNode, type XmlTag } from './xml.ts'

/** What XML says of a format. */
export type PrintedMark = Pick<XmlTag, 'name' | 'attributes'>

export const markId = ({ name, attributes }: PrintedMark) => JSON.stringify([name, attributes])

/** y-prosemirror stores marks that may overlap with themselves under their name and a hash of their attributes. */
const hashInKey = /--[A-Za-z0-9+/=]{8}$/

/** The names in these units, and with `isDeep` also in their elements. */
export function namesIn(units: readonly StoredUnit[], isDeep: boolean): Names {
  const names: Names = { elements: new Set(), formats: new Set() }
  const read = (unit: StoredUnit) => {
    if (unit.kind === 'element') {
      names.elements.add(unit.nodes[0].name)
      if (isDeep) for (const inner of unit.units) read(inner)
      return
    }
    for (const { marks } of unit.pieces) {
      for (const { name, key } of marks) {
        names.formats.add(name).add(printableName(key.replace(hashInKey, '')))
      }
    }
  }
  for (const unit of units) read(unit)
  return names
}

const isUsed = (name: string, { elements, formats }: Names) => elements.has(name) || formats.has(name)

/**
 * What names and attributes mean in a document: XML does not tell a format from an element, nor 2 from "2". Whatever the
 * document has already is the example for what is written.
 */
export class Vocabulary {
  readonly #names: Names
  readonly #foreign = new Map<string, boolean>()
  /** Stored formats by what XML says of them. More than one: XML does not show in what they differ. */
  readonly #marks = new Map<string, Mark[]>()
  readonly #keys = new Map<string, string>()
  readonly #kinds = new Map<string, Set<Kind>>()

  constructor(units: readonly StoredUnit[]) {
    this.#names = namesIn(units, true)
    for (const unit of units) this.#learn(unit)
  }

  #learn(unit: StoredUnit): void {
    if (unit.kind === 'text') {
      for (const { marks } of unit.pieces) for (const mark of marks) this.#learnMark(mark)
      return
    }
    const [{ name }] = unit.nodes
    this.#learnAttributes(name, unit.element.getAttributes())
    for (const inner of unit.units) this.#learn(inner)
  }

  #learnMark(mark: Mark): void {
    const known = this.#marks.get(markId(mark))
    if (!known) this.#marks.set(markId(mark), [mark])
    else if (known.length === 1 && !isSameMark(known[0]!, mark)) known.push(mark)
    else return
    if (!this.#keys.has(mark.name)) this.#keys.set(mark.name, mark.key)
    this.#learnAttributes(`format ${mark.name}`, mark.value)
  }

  #learnAttributes(owner: string, values: unknown): void {
    if (typeof values !== 'object' || values === null) return
    for (const [name, value] of Object.entries(values)) {
      const kind = kindOf(value)
      const id = `${owner} ${name}`
      if (kind) this.#kinds.set(id, (this.#kinds.get(id) ?? new Set<Kind>()).add(kind))
    }
  }

  /**
   * Whether a tag is a format of the text in it. Its siblings in the stored document decide, then the whole document, then
   * the names that editors give to formats.
   */
  isFormat(tag: XmlTag, siblings: Names, isInElement: boolean): boolean {
    const use = isUsed(tag.name, siblings) ? siblings : this.#names
    const [format, element] = [use.formats.has(tag.name), use.elements.has(tag.name)]
    if (format && element) {
      throw unfit(`<${tag.name}> is both an element and a format there, so its meaning is not clear.`)
    }
    if (format || element) return format
    if (this.#isForeign(tag.name)) {
      throw unfit(
        `it has no <${tag.name}> yet, and an editor that does not know this name would remove text.`,
      )
    }
    return isInElement && isCommonFormat(tag)
  }

  #isForeign(name: string): boolean {
    let isForeignName = this.#foreign.get(name)
    if (isForeignName === undefined) this.#foreign.set(name, (isForeignName = isForeign(name, this.#names)))
    return isForeignName
  }

  /** The format to store. `near` are formats of the text around it, and of the text that it replaces. */
  resolveMark(mark: PrintedMark, near: readonly Mark[]): Pick<Mark, 'key' | 'value'> {
    const id = markId(mark)
    const same = near.find((other) => markId(other) === id)
    if (same) return same
    const known = this.#marks.get(id)
    if (known) {
      if (known.length > 1 && known.some(({ value }) => typeof value !== 'object')) {
        throw unfit(
          `<${mark.name}> is a format with a value that XML does not show. The text needs another one.`,
        )
      }
      return known[0]!
    }
    const similar = near.find(({ name }) => name === mark.name)
    const key = similar?.key ?? this.#keys.get(mark.name) ?? mark.name
    const before = typeof similar?.value === 'object' ? similar.value : null
    return { key, value: this.#mergeAttributes(`format ${mark.name}`, before, mark.attributes) }
  }

  /** The values to store for printed attributes. Values that XML does not show stay. */
  #mergeAttributes(owner: string, before: object | null, printed: readonly [string, string][]) {
    const shown = new Map(printed)
    const kept = Object.entries(before ?? {}).filter(
      ([name, value]) => value === null || value === undefined || !isPrintable(name) || shown.has(name),
    )
    const values = new Map<string, unknown>(kept)
    for (const [name, text] of shown) values.set(name, this.valueOf(owner, name, text, values.get(name)))
    return Object.fromEntries(values)
  }

  /** The value to store for a printed attribute. It has the type of the value that it replaces or that others have. */
  valueOf(owner: string, name: string, text: string, before: unknown): unknown {
    const id = `${owner} ${name}`
    if (before !== null && before !== undefined) {
      if (printedValue(before) === text) return before
      if (!isFaithful(before)) {
        throw unfit(
          `The attribute "${name}" of <${owner.replace('format ', '')}> has a value that XML cannot change.`,
        )
      }
    }
    const ownKind = kindOf(before)
    const usual = kindsOfAttributes[id] ?? (typeof before === 'string' ? undefined : this.#kinds.get(id))
    for (const kind of ownKind ? [ownKind] : (usual ?? [])) {
      const value = parsers[kind](text)
      if (value !== undefined) return value
    }
    return text
  }
}

export const unfit = (reason: string) => new UnfitContent(`XML does not fit the document: ${reason}`)

const isSameMark = (a: Mark, b: Mark) => a.key === b.key && isDeepStrictEqual(a.value, b.value)

const isPrintable = (name: string) => name !== '__proto__' && printableName(name) === name

/** Whether a tag with a name that editors give to a format has text, or only such tags with text. */
function isCommonFormat({ name, children }: XmlTag): boolean {
  if (!formatNames.has(name) || children.length === 0) return false
  const isText = (node: XmlNode) => typeof node === 'string' || isCommonFormat(node)
  return children.every(isText) || children.some((node) => typeof node === 'string' && node.trim() !== '')
}

const kindOf = (value: unknown): Kind | undefined => {
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value as Kind
  return typeof value === 'object' && value !== null && isFaithful(value) ? 'json' : undefined
}

/** Whether its JSON is all of the value: bytes, for example, are read as a string. */
const isFaithful = (value: unknown) =>
  typeof value === 'string' || isDeepStrictEqual(JSON.parse(JSON.stringify(plain(value))), value)

const parsers: Record<Kind, (text: string) => unknown> = {
  number: (text) =>
    /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text) && isFinite(Number(text)) ? Number(text) : undefined,
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  json: parseJson,
}

function parseJson(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const error = sizeError(value as object)
  if (error !== null) throw unfit(error)
  // Yjs takes an object for one of its own types if it has this key.
  if (Object.hasOwn(value as object, 'constructor'))
    throw unfit('The value of an attribute must not have the key "constructor".')
  return plain(value)
}
