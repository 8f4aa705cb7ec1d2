import * as Y from 'yjs'
import { maxDepth, plain } from '../values.ts'
import {
  byName,
  printableAttributes,
  printableName,
  printableText,
  type XmlNode,
  type XmlTag,
} from './xml.ts'

/** The content of a shared type as XML shows it: its elements, and its texts, of which neighbours are one. */
export type StoredUnit = StoredText | StoredElement

export interface StoredText {
  kind: 'text'
  texts: Y.Text[]
  pieces: StoredPiece[]
  nodes: XmlNode[]
  /** Whether a write must not remove the texts, because they have embedded objects or attributes, which XML does not show. */
  hasHidden: boolean
}

/** Characters with the same formats, or an embedded object. */
export interface StoredPiece {
  text: Y.Text
  /** Null stands for an embedded object. */
  characters: string | null
  marks: Mark[]
}

/** A format of rich text, and the element that shows it. */
export interface Mark extends Pick<XmlTag, 'name' | 'attributes'> {
  key: string
  value: unknown
}

export interface StoredElement {
  kind: 'element'
  element: Y.XmlElement
  nodes: [XmlTag]
  units: StoredUnit[]
  /** Whether it has content that XML does not show. */
  hasHidden: boolean
}

/** A Yjs type as XML nodes. Stops at `maxDepth`, so that the server accepts its own answer. */
export const nodesOf = (type: unknown): XmlNode[] => nodesIn(readUnits([type], 0).units)

const nodesIn = (units: readonly StoredUnit[]): XmlNode[] => units.flatMap<XmlNode>(({ nodes }) => nodes)

/** The units of a list of types. What is nested too deep, and what is not XML, is hidden. */
export function readUnits(
  types: readonly unknown[],
  depth: number,
): Pick<StoredElement, 'units' | 'hasHidden'> {
  const units: StoredUnit[] = []
  let hasHidden = false
  const read = (type: unknown, depth: number) => {
    if (type instanceof Y.Text) {
      const last = units.at(-1)
      const unit: StoredText =
        last?.kind === 'text' ? last : { kind: 'text', texts: [], pieces: [], nodes: [], hasHidden: false }
      if (unit !== last) units.push(unit)
      addText(unit, type, depth)
      hasHidden ||= unit.hasHidden
    } else if (!(type instanceof Y.XmlFragment) || depth > maxDepth) {
      hasHidden = true
    } else if (type instanceof Y.XmlElement) {
      const unit = readElement(type, depth)
      units.push(unit)
      hasHidden ||= unit.hasHidden
    } else {
      for (const child of type.toArray()) read(child, depth + 1)
    }
  }
  for (const type of types) read(type, depth)
  return { units, hasHidden }
}

function readElement(element: Y.XmlElement, depth: number): StoredElement {
  const { units, hasHidden } = readUnits(element.toArray(), depth + 1)
  const attributes = printedAttributes(element.getAttributes())
  const node = { name: printableName(element.nodeName), attributes, children: nodesIn(units) }
  return { kind: 'element', element, nodes: [node], units, hasHidden }
}

type DeltaPiece = { insert: unknown; attributes?: Record<string, unknown> }

function addText(unit: StoredText, text: Y.Text, depth: number): void {
  unit.texts.push(text)
  for (const { insert, attributes = {} } of text.toDelta() as DeltaPiece[]) {
    const characters = typeof insert === 'string' ? printableText(insert) : null
    const marks = marksOf(attributes, depth)
    unit.pieces.push({ text, characters, marks })
    if (characters === null) unit.hasHidden = true
    else addNode(unit.nodes, marks, characters)
  }
  unit.hasHidden ||= hasAttributes(text)
}

export const hasAttributes = (text: Y.Text) => Object.keys(text.getAttributes()).length > 0

/** Each format becomes an element around the text, the first by name outermost. */
function marksOf(formats: Record<string, unknown>, depth: number): Mark[] {
  return Object.entries(formats)
    .sort(byName)
    .slice(0, maxDepth + 1 - depth)
    .map(([key, value]) => ({
      key,
      value,
      name: printableName(key),
      attributes: printedAttributes(typeof value === 'object' ? value : null),
    }))
}

function addNode(nodes: XmlNode[], marks: readonly Mark[], characters: string): void {
  const last = nodes.at(-1)
  if (marks.length === 0 && typeof last === 'string') nodes[nodes.length - 1] = last + characters
  else
    nodes.push(
      marks.reduceRight<XmlNode>(
        (inner, { name, attributes }) => ({ name, attributes, children: [inner] }),
        characters,
      ),
    )
}

export const printedAttributes = (values: object | null): [string, string][] =>
  printableAttributes(
    Object.entries(values ?? {})
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, printedValue(value)]),
  )

/** Strings are printed as they are, other values as JSON. */
export const printedValue = (value: unknown): string =>
  typeof value === 'string' ? printableText(value) : JSON.stringify(plain(value))
