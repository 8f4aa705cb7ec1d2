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

/** Selects the text of a thread, wherever it is now. */
export function selectRange(editor: Editor, { anchor, head }: Range): void {
  const { doc, type, mapping } = bindingOf(editor)
  const [from, to] = [anchor, head].map((position) =>
    relativePositionToAbsolutePosition(doc, type, createRelativePositionFromJSON(position), mapping),
  )
  if (from == null || to == null) return
  editor.chain().focus().setTextSelection({ from, to }).run()
}
