import * as Y from 'yjs'
import type { EditorRange, LocatedRange, YjsPosition } from '../../operations/index.ts'
import { type EditorPlace, itemOf, type SharedType, TextOfType } from './text-of-type.ts'

/** Where the range of a thread is now. */
export interface PlacedRange {
  readonly start: EditorPlace
  readonly end: EditorPlace
  /** The text between, with a line break between blocks such as paragraphs. */
  readonly text: string
}

/**
 * Turns a selection into the `targetEditor` of a new thread. What is typed at its start or end later stays outside of the
 * range. The server knows the selected text when `editor.whenSaved()` has resolved.
 *
 * ```ts
 * const text = editor.doc.getText('content')
 * const targetEditor = rangeBetween(editor.editorId, { type: text, index: 4 }, { type: text, index: 9 })
 * ```
 */
export function rangeBetween(editorId: string, anchor: EditorPlace, head: EditorPlace): EditorRange {
  const isBackward = isBefore(head, anchor)
  return {
    editorId,
    anchor: positionAt(anchor, isBackward ? -1 : 0),
    head: positionAt(head, isBackward ? 0 : -1),
  }
}

/** With `assoc` -1, the position is attached to what is before it, otherwise to what is after it. */
const positionAt = ({ type, index }: EditorPlace, assoc: 0 | -1): YjsPosition =>
  Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(type, index, assoc)) as YjsPosition

function isBefore(a: EditorPlace, b: EditorPlace): boolean {
  if (a.type === b.type) return a.index < b.index
  const all = new TextOfType(rootOf(a.type))
  const [before, after] = [all.find(a), all.find(b)]
  return before !== undefined && after !== undefined && before.order < after.order
}

function rootOf(type: SharedType): SharedType {
  let root = type
  for (let item = itemOf(root); item; item = itemOf(root)) root = item.parent as SharedType
  return root
}

/**
 * Finds the `targetEditor` of a thread in the document of its editor, as the server does. Call it again when the document
 * changes. Returns undefined if the text does not exist any more, or if the editor has not loaded.
 */
export const locateRange = (doc: Y.Doc, range: StoredRange): PlacedRange | undefined =>
  rangeFinder(doc)(range)

/** What is needed of a `targetEditor` to find its range. */
export type StoredRange = Pick<LocatedRange, 'contentKey' | 'anchor' | 'head' | 'quote'>

/** As `locateRange`, for many ranges in one state of a document: reads the whole text once at most. */
export function rangeFinder(doc: Y.Doc): (range: StoredRange) => PlacedRange | undefined {
  const texts = new Map<SharedType, TextOfType>()
  const textOf = (root: SharedType) => {
    let text = texts.get(root)
    if (!text) texts.set(root, (text = new TextOfType(root)))
    return text
  }
  return (range) => {
    const root = doc.share.get(range.contentKey)
    return root && (atPositions(doc, () => textOf(root), range) ?? atQuote(() => textOf(root), range.quote))
  }
}

function atPositions(
  doc: Y.Doc,
  textOfRoot: () => TextOfType,
  { anchor, head, quote }: StoredRange,
): PlacedRange | undefined {
  const isBackward = (anchor.assoc ?? 0) < 0
  const start = placeOf(doc, isBackward ? head : anchor)
  const end = placeOf(doc, isBackward ? anchor : head)
  if (!start || !end) return undefined
  // Most ranges are in one paragraph. Then the others need not be read.
  const around = start.type === end.type ? new TextOfType(start.type) : textOfRoot()
  const [from, to] = [around.find(start), around.find(end)]
  if (!from || !to || from.order >= to.order) return undefined
  const text = around.text.slice(from.offset, to.offset)
  // The blocks around a deleted text may be left.
  return hasText(quote) && !hasText(text) ? undefined : { start, end, text }
}

function placeOf(doc: Y.Doc, position: YjsPosition): EditorPlace | undefined {
  const found = Y.createAbsolutePositionFromRelativePosition(Y.createRelativePositionFromJSON(position), doc)
  if (!found || isDeleted(found.type)) return undefined
  return { type: found.type, index: found.index }
}

function isDeleted(type: SharedType): boolean {
  for (let item = itemOf(type); item; item = itemOf(item.parent as SharedType)) if (item.deleted) return true
  return false
}

/** A text that was deleted and written again, by undo or by cut and paste, is found if it occurs exactly once. */
function atQuote(textOfRoot: () => TextOfType, quote: string): PlacedRange | undefined {
  if (!hasText(quote)) return undefined
  const all = textOfRoot()
  const at = all.text.indexOf(quote)
  if (at < 0 || all.text.includes(quote, at + 1)) return undefined
  const [start, last] = [all.placeAt(at), all.placeAt(at + quote.length - 1)]
  return start && last && { start, end: { ...last, index: last.index + 1 }, text: quote }
}

const hasText = (text: string) => /[^\n]/.test(text)
