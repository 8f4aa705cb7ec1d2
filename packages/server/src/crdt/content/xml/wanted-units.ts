import { type PrintedMark, markId, unfit } from './vocabulary.ts'
import type { XmlNode, XmlTag } from './xml.ts'

/** The content of an element of XML, as it will be stored. */
export type WantedUnit = WantedText | WantedElement

export interface WantedText {
  kind: 'text'
  pieces: WantedPiece[]
  nodes: XmlNode[]
}

export interface WantedPiece {
  characters: string
  marks: readonly PrintedMark[]
}

export interface WantedElement {
  kind: 'element'
  tag: XmlTag
  nodes: [XmlTag]
}

/** Divides nodes into elements and texts between them. Formats are part of the text. */
export function unitsOf(nodes: readonly XmlNode[], isFormat: (tag: XmlTag) => boolean): WantedUnit[] {
  const units: WantedUnit[] = []
  const textAtEnd = (): WantedText => {
    const last = units.at(-1)
    if (last?.kind === 'text') return last
    const text: WantedText = { kind: 'text', pieces: [], nodes: [] }
    units.push(text)
    return text
  }
  for (const node of nodes) {
    if (typeof node !== 'string' && !isFormat(node)) {
      units.push({ kind: 'element', tag: node, nodes: [node] })
    } else {
      const text = textAtEnd()
      text.nodes.push(node)
      addPieces(text.pieces, node, [], isFormat)
    }
  }
  return units
}

function addPieces(
  pieces: WantedPiece[],
  node: XmlNode,
  marks: readonly PrintedMark[],
  isFormat: (tag: XmlTag) => boolean,
): void {
  if (typeof node === 'string') {
    pieces.push({ characters: node, marks })
    return
  }
  const outer = marks.find(({ name }) => name === node.name)
  if (outer && markId(outer) !== markId(node)) {
    throw unfit(`<${node.name}> is in another <${node.name}>. A text has each format once.`)
  }
  if (node.children.length === 0) throw unfit(`<${node.name}> is a format, and has no text.`)
  for (const child of node.children) {
    if (typeof child !== 'string' && !isFormat(child)) {
      throw unfit(
        `<${node.name}> is a format, and <${child.name}> in it is an element. Only text can have formats.`,
      )
    }
    addPieces(pieces, child, outer ? marks : [...marks, node], isFormat)
  }
}
