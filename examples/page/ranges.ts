import type { NewThread, Thread } from '@plenum/client'
import type { Editor } from '@tiptap/core'
import {
  absolutePositionToRelativePosition,
  relativePositionToAbsolutePosition,
  ySyncPluginKey,
} from '@tiptap/y-tiptap'
import { createRelativePositionFromJSON } from 'yjs'

type Range = NonNullable<Thread['targetEditor']>

/** Tiptap stores its content under this name. */
const contentKey = 'default'

/** What y-tiptap knows about the content. */
const bindingOf = (editor: Editor) => ySyncPluginKey.getState(editor.state).binding

/** The selected text as the range of a new thread. It moves with the text. Undefined: nothing is selected. */
export function selectedRange(editor: Editor, editorId: string): NewThread['targetEditor'] {
  const { from, to, empty } = editor.state.selection
  if (empty) return undefined
  const { type, mapping } = bindingOf(editor)
  const position = (offset: number) => absolutePositionToRelativePosition(offset, type, mapping)
  return {
    editorId,
    contentKey,
    anchor: position(from),
    head: position(to),
    quote: editor.state.doc.textBetween(from, to, '\n'),
  }
}

/** Where the text of a thread is now. Undefined: it was deleted. */
function locate(editor: Editor, { anchor, head }: Range): { from: number; to: number } | undefined {
  const { doc, type, mapping } = bindingOf(editor)
  const [from, to] = [anchor, head].map((position) =>
    relativePositionToAbsolutePosition(doc, type, createRelativePositionFromJSON(position), mapping),
  )
  return from == null || to == null || from >= to ? undefined : { from, to }
}

/** Selects the text of a thread, wherever it is now. */
export function selectRange(editor: Editor, range: Range): void {
  const place = locate(editor, range)
  if (place) editor.chain().focus().setTextSelection(place).run()
}

/** The stylesheet colors what this contains, in all editors of the page: `::highlight(commented)`. */
const commented = new Highlight()
CSS.highlights.set('commented', commented)

/**
 * Highlights the text of threads, and the selection while a comment on it is typed elsewhere. Returns a function to call
 * when the ranges have changed.
 */
export function highlightRanges(editor: Editor, ranges: () => readonly Range[]): () => void {
  let shown: AbstractRange[] = []
  const update = () => {
    for (const range of shown) commented.delete(range)
    const { from, to, empty } = editor.state.selection
    const selection = empty || editor.isFocused ? [] : [{ from, to }]
    const places = [...selection, ...ranges().flatMap((range) => locate(editor, range) ?? [])]
    shown = places.map((place) => {
      const [start, end] = [editor.view.domAtPos(place.from), editor.view.domAtPos(place.to)]
      return new StaticRange({
        startContainer: start.node,
        startOffset: start.offset,
        endContainer: end.node,
        endOffset: end.offset,
      })
    })
    for (const range of shown) commented.add(range)
  }
  editor.on('transaction', update)
  return update
}
