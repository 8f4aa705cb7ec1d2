import * as Y from 'yjs'
import { maxDepth, plain } from './values.ts'
import { byName, type XmlNode } from './xml.ts'

/** A Yjs type as XML nodes. Stops at `maxDepth`, so that the server accepts its own answer. */
export function nodesOf(type: unknown, depth = 0): XmlNode[] {
  if (type instanceof Y.Text) return type.toDelta().flatMap((piece: Piece) => textNodes(piece, depth))
  if (!(type instanceof Y.XmlFragment) || depth > maxDepth) return []
  const children = type.toArray().flatMap((child) => nodesOf(child, depth + 1))
  if (!(type instanceof Y.XmlElement)) return children
  return [{ name: type.nodeName, attributes: attributesOf(type.getAttributes()), children }]
}

type Piece = { insert: unknown; attributes?: Record<string, unknown> }

/** Each format of rich text becomes an element around the text, the first by name outermost. Embeds are left out. */
function textNodes({ insert, attributes = {} }: Piece, depth: number): XmlNode[] {
  if (typeof insert !== 'string') return []
  const formats = Object.entries(attributes)
    .sort(byName)
    .slice(0, maxDepth + 1 - depth)
  return [formats.reduceRight<XmlNode>(formatted, insert)]
}

function formatted(inner: XmlNode, [name, value]: [string, unknown]): XmlNode {
  return { name, attributes: attributesOf(typeof value === 'object' ? value : null), children: [inner] }
}

const attributesOf = (values: object | null): [string, string][] =>
  Object.entries(values ?? {})
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(plain(value))])

/**
 * Inserts elements before their children: Yjs passes the children of a detached element as arguments of one call, and too
 * many overflow the stack.
 */
export function insertNodes(parent: Y.XmlFragment, index: number, nodes: readonly XmlNode[]) {
  const created = nodes.map((node) =>
    typeof node === 'string' ? new Y.XmlText(node) : new Y.XmlElement(node.name),
  )
  parent.insert(index, created)
  for (const [i, node] of nodes.entries()) {
    const element = created[i]
    if (typeof node === 'string' || !(element instanceof Y.XmlElement)) continue
    for (const [key, value] of node.attributes) element.setAttribute(key, value)
    insertNodes(element, 0, node.children)
  }
}
