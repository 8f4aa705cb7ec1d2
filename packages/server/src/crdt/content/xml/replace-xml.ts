import * as Y from 'yjs'
import { matchEqual, pairSimilar } from './alignment.ts'
import { Shapes } from './shapes.ts'
import { featuresOf, similarity } from './similarity.ts'
import {
  hasAttributes,
  printedAttributes,
  readUnits,
  type StoredElement,
  type StoredText,
  type StoredUnit,
} from './stored-units.ts'
import { changeText } from './text-changes.ts'
import { namesIn, unfit, Vocabulary } from './vocabulary.ts'
import { unitsOf, type WantedElement, type WantedText, type WantedUnit } from './wanted-units.ts'
import type { XmlNode } from './xml.ts'

/**
 * Turns a fragment into the parsed XML. What is equal stays: elements, words, formats and typed values. What XML does not
 * show stays too. Throws `UnfitContent` if the XML cannot be stored.
 */
export function replaceXml(
  transaction: Y.Transaction,
  fragment: Y.XmlFragment,
  nodes: readonly XmlNode[],
): void {
  const { units } = readUnits(fragment.toArray(), 1)
  const writer = new XmlWriter(transaction, new Vocabulary(units))
  writer.write(fragment, units, nodes)
}

class XmlWriter {
  readonly #transaction: Y.Transaction
  readonly #vocabulary: Vocabulary
  readonly #shapes = new Shapes()

  constructor(transaction: Y.Transaction, vocabulary: Vocabulary) {
    this.#transaction = transaction
    this.#vocabulary = vocabulary
  }

  /** Writes the content of an element or of the fragment. */
  write(parent: Y.XmlFragment, stored: readonly StoredUnit[], nodes: readonly XmlNode[]): void {
    if (this.#shapes.of(stored.flatMap<XmlNode>((unit) => unit.nodes)) === this.#shapes.of(nodes)) return
    const wanted = this.#unitsOf(nodes, stored, parent instanceof Y.XmlElement)
    const partners = this.#align(stored, wanted)
    // Editors such as Lexical store each paragraph as a text with attributes, and cannot read an element beside it.
    if (partners.includes(null) && stored.some(hasTextAttributes)) {
      throw unfit('only words can be changed, because its texts have attributes, which XML does not show.')
    }
    for (const unit of withoutPlace(stored, new Set(partners))) this.#remove(unit)
    let last: StoredUnit | null = null
    let fresh: WantedUnit[] = []
    for (const [index, unit] of wanted.entries()) {
      const partner = partners[index]!
      if (!partner) {
        fresh.push(unit)
        continue
      }
      this.#insert(parent, last, fresh)
      fresh = []
      last = partner
      this.#change(partner, unit)
    }
    this.#insert(parent, last, fresh)
  }

  #unitsOf(nodes: readonly XmlNode[], siblings: readonly StoredUnit[], isInElement: boolean): WantedUnit[] {
    const names = namesIn(siblings, false)
    return unitsOf(nodes, (tag) => this.#vocabulary.isFormat(tag, names, isInElement))
  }

  /** The stored unit that each wanted unit is from now on, or null. */
  #align(stored: readonly StoredUnit[], wanted: readonly WantedUnit[]): (StoredUnit | null)[] {
    const shapesOf = (units: readonly { nodes: XmlNode[] }[]) =>
      units.map(({ nodes }) => this.#shapes.of(nodes))
    // A text without characters has no node. It can be used for a new text.
    const shown = stored.flatMap((unit, place) => (unit.nodes.length > 0 ? [{ ...unit, place }] : []))
    const equal = matchEqual(shapesOf(shown), shapesOf(wanted)).map((index) => shown[index]?.place ?? -1)
    const partners = equal.map((place) => stored[place] ?? null)
    let [from, start] = [0, 0]
    for (let end = 0; end <= wanted.length; end++) {
      const place = end < wanted.length ? equal[end]! : stored.length
      if (place < 0) continue
      const similar = pairSimilar(stored.slice(from, place), wanted.slice(start, end), this.#scores())
      for (const [index, unit] of similar.entries()) partners[start + index] = unit
      ;[from, start] = [place + 1, end + 1]
    }
    return partners
  }

  /** Scores pairs of units. Only texts, and elements with the same name, can become one another. */
  #scores(): (stored: StoredUnit, wanted: WantedUnit) => number {
    const features = new Map<object, Set<string>>()
    const featuresIn = (unit: StoredUnit | WantedUnit) => {
      let found = features.get(unit)
      if (!found) features.set(unit, (found = featuresOf(unit.nodes)))
      return found
    }
    return (stored, wanted) => {
      const isPossible =
        stored.kind === 'text' || wanted.kind === 'text'
          ? stored.kind === wanted.kind
          : stored.nodes[0].name === wanted.tag.name
      return isPossible ? 0.01 + similarity(featuresIn(stored), featuresIn(wanted)) : 0
    }
  }

  #change(stored: StoredUnit, wanted: WantedUnit): void {
    if (this.#shapes.of(stored.nodes) === this.#shapes.of(wanted.nodes)) return
    if (stored.kind === 'text') {
      changeText(stored, (wanted as WantedText).pieces, this.#vocabulary)
      return
    }
    const { tag } = wanted as WantedElement
    this.#changeAttributes(stored, tag.attributes)
    this.write(stored.element, stored.units, tag.children)
  }

  #changeAttributes({ element, nodes: [{ name: owner }] }: StoredElement, wanted: [string, string][]): void {
    const values = element.getAttributes() as Record<string, unknown>
    const names = new Set(wanted.map(([name]) => name))
    for (const [name] of printedAttributes(values)) if (!names.has(name)) element.removeAttribute(name)
    for (const [name, text] of wanted) {
      const value = this.#vocabulary.valueOf(owner, name, text, values[name])
      if (value !== values[name]) setAttribute(element, name, value)
    }
  }

  #remove(unit: StoredUnit): void {
    if (unit.kind === 'element') {
      if (unit.hasHidden) {
        const [{ name }] = unit.nodes
        throw unfit(`it lacks <${name}>, in which the document has content that XML does not show.`)
      }
      itemOf(unit.element)?.delete(this.#transaction)
    } else if (unit.hasHidden) {
      changeText(unit, [], this.#vocabulary)
    } else {
      for (const text of unit.texts) itemOf(text)?.delete(this.#transaction)
    }
  }

  /**
   * Inserts elements before their children: Yjs passes the children of a detached element as arguments of one call, and too
   * many overflow the stack.
   */
  #insert(list: Y.XmlFragment, after: StoredUnit | null, units: readonly WantedUnit[]): void {
    if (units.length === 0) return
    const created = units.map((unit) =>
      unit.kind === 'text' ? new Y.XmlText() : new Y.XmlElement(unit.tag.name),
    )
    const last = after && lastTypeOf(after)
    const parent = ((last && itemOf(last)?.parent) ?? list) as Y.XmlFragment
    parent.insertAfter(last as Y.XmlText | null, created)
    for (const [index, unit] of units.entries()) {
      const type = created[index]!
      if (unit.kind === 'text') this.#fillText(type as Y.XmlText, unit)
      else this.#fillElement(type as Y.XmlElement, unit)
    }
  }

  #fillText(text: Y.XmlText, { pieces }: WantedText): void {
    const empty: StoredText = { kind: 'text', texts: [text], pieces: [], nodes: [], hasHidden: false }
    changeText(empty, pieces, this.#vocabulary)
  }

  #fillElement(element: Y.XmlElement, { tag: { name, attributes, children } }: WantedElement): void {
    for (const [key, text] of attributes) {
      setAttribute(element, key, this.#vocabulary.valueOf(name, key, text, undefined))
    }
    this.#insert(element, null, this.#unitsOf(children, [], true))
  }
}

/**
 * The units to remove. A text without characters stays, because a user may be typing into it, unless it would become the
 * neighbour of another text: editors expect one text between two elements.
 */
function withoutPlace(stored: readonly StoredUnit[], kept: ReadonlySet<StoredUnit | null>): StoredUnit[] {
  const isRemoved = (unit: StoredUnit | undefined) =>
    unit !== undefined && unit.nodes.length > 0 && !kept.has(unit)
  return stored.filter(
    (unit, index) =>
      isRemoved(unit) ||
      (!kept.has(unit) &&
        unit.nodes.length === 0 &&
        (isRemoved(stored[index - 1]) || isRemoved(stored[index + 1]))),
  )
}

const hasTextAttributes = (unit: StoredUnit) => unit.kind === 'text' && unit.texts.some(hasAttributes)

const itemOf = ({ _item: item }: Y.Text | Y.XmlElement) => item

const lastTypeOf = (unit: StoredUnit) => (unit.kind === 'text' ? unit.texts.at(-1)! : unit.element)

/** Yjs declares that attributes are strings, but stores any value. */
const setAttribute = (element: Y.XmlElement, name: string, value: unknown) =>
  element.setAttribute(name, value as string)
