import type { Node } from 'prosemirror-model'
import type { EditorState } from 'prosemirror-state'
import * as Y from 'yjs'
import type { EditorPlace, SharedType } from '../live/editor/text-of-type.ts'

/** What the plugin that connects ProseMirror with Yjs knows: that of `y-prosemirror`, or its copy `@tiptap/y-tiptap`. */
interface SyncState {
  doc: Y.Doc
  type: Y.XmlFragment
  /** Set while the editor shows an older state of the document. */
  snapshot?: unknown
}

/** Found by its key, so that this package depends on neither of the two. */
export function syncStateOf(state: EditorState): SyncState | undefined {
  const plugin = state.plugins.find((one) => (one as unknown as { key: string }).key.startsWith('y-sync$'))
  const sync = plugin?.getState(state) as SyncState | undefined
  return sync?.snapshot ? undefined : sync
}

/** The content of a shared type in the positions of ProseMirror. */
interface Span {
  type: SharedType
  start: number
  end: number
  /** The position after the node, which for a text is also its end. */
  after: number
}

/**
 * Translates between places in the `Y.Doc` and positions of ProseMirror. Both documents have the same tree, so they are read
 * side by side. In the moment between an edit and its arrival in the `Y.Doc` they differ; then nothing is found.
 */
export class EditorPositions {
  /** In the order of the document. Undefined: the documents differ. */
  readonly #spans: Map<SharedType, Span> | undefined

  constructor(root: Y.XmlFragment, doc: Node) {
    const spans = new Map<SharedType, Span>()
    const areEqual = readSpans(spans, root, doc, 0)
    this.#spans = areEqual ? spans : undefined
  }

  positionOf({ type, index }: EditorPlace): number | undefined {
    const span = this.#spans?.get(type)
    if (!span || type instanceof Y.XmlText) return span && span.start + index
    if (index === 0) return span.start
    return this.#spans?.get((type as Y.XmlFragment).get(index - 1))?.after
  }

  placeAt(position: number): EditorPlace | undefined {
    let around: Span | undefined
    for (const span of this.#spans?.values() ?? []) {
      if (position < span.start || position > span.end) continue
      if (span.type instanceof Y.XmlText) return { type: span.type, index: position - span.start }
      around = span
    }
    if (!around) return undefined
    const children = (around.type as Y.XmlFragment).toArray()
    const isBefore = (child: SharedType) => (this.#spans?.get(child)?.after ?? Infinity) <= position
    return { type: around.type, index: children.filter(isBefore).length }
  }
}

/** Returns false if the documents differ. */
function readSpans(spans: Map<SharedType, Span>, type: Y.XmlFragment, node: Node, start: number): boolean {
  const end = start + node.content.size
  spans.set(type, { type, start, end, after: end + 1 })
  let [position, child] = [start, 0]
  /** Where the last text node of ProseMirror ends. It joins neighbouring texts of Yjs, and divides them by formats. */
  let textEnd = start
  for (const inner of type.toArray()) {
    if (inner instanceof Y.XmlText) {
      const after = position + inner.length
      spans.set(inner, { type: inner, start: position, end: after, after })
      while (textEnd < after) {
        const text = node.maybeChild(child++)
        if (!text?.isText) return false
        textEnd += text.nodeSize
      }
      position = after
    } else {
      const innerNode = node.maybeChild(child++)
      if (
        textEnd !== position ||
        !(inner instanceof Y.XmlElement) ||
        innerNode?.type.name !== inner.nodeName
      ) {
        return false
      }
      const after = position + innerNode.nodeSize
      // No position is in a leaf.
      if (innerNode.isLeaf) spans.set(inner, { type: inner, start: position, end: position - 1, after })
      else if (!readSpans(spans, inner, innerNode, position + 1)) return false
      position = after
      textEnd = after
    }
  }
  return textEnd === position && child === node.childCount
}
