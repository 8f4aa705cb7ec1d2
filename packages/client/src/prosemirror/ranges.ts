import { type EditorState, TextSelection } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'
import type { EditorRange } from '../operations/index.ts'
import { rangeBetween, rangeFinder, type StoredRange } from '../live/editor/ranges.ts'
import { EditorPositions, syncStateOf } from './positions.ts'

/** A range of text, in positions of ProseMirror. */
export interface TextPlace {
  readonly from: number
  readonly to: number
}

/**
 * Turns the selection into the `targetEditor` of a new thread. Returns undefined if nothing is selected. The server knows
 * the selected text when `editor.whenSaved()` has resolved.
 *
 * ```ts
 * const targetEditor = rangeOfSelection(tiptap.state, 'article')
 * await threads.add({ commentText, targetEditor })
 * ```
 */
export function rangeOfSelection(state: EditorState, editorId: string): EditorRange | undefined {
  const sync = syncStateOf(state)
  if (!sync || state.selection.empty) return undefined
  const positions = new EditorPositions(sync.type, state.doc)
  const { from, to, anchor, head } = state.selection
  const [start, end] = [positions.placeAt(from), positions.placeAt(to)]
  if (!start || !end) return undefined
  return anchor > head ? rangeBetween(editorId, end, start) : rangeBetween(editorId, start, end)
}

/** Finds ranges in one state of an editor. */
export function placeFinder(state: EditorState): (range: StoredRange) => TextPlace | undefined {
  const sync = syncStateOf(state)
  if (!sync) return () => undefined
  const positions = new EditorPositions(sync.type, state.doc)
  const find = rangeFinder(sync.doc)
  return (range) => {
    const found = find(range)
    const [from, to] = [found && positions.positionOf(found.start), found && positions.positionOf(found.end)]
    return from !== undefined && to !== undefined && from < to ? { from, to } : undefined
  }
}

/** Finds the `targetEditor` of a thread. Returns undefined if its text was deleted. */
export const placeOfRange = (state: EditorState, range: StoredRange): TextPlace | undefined =>
  placeFinder(state)(range)

/** Selects the `targetEditor` of a thread and scrolls to it. Returns false if its text was deleted. */
export function selectRange(view: EditorView, range: StoredRange): boolean {
  const { state } = view
  const place = placeOfRange(state, range)
  if (!place) return false
  const selection = TextSelection.create(state.doc, place.from, place.to)
  view.dispatch(state.tr.setSelection(selection).scrollIntoView())
  view.focus()
  return true
}
