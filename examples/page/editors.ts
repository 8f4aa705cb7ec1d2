import { Editor } from '@tiptap/core'
import Collaboration from '@tiptap/extension-collaboration'
import CollaborationCaret from '@tiptap/extension-collaboration-caret'
import StarterKit from '@tiptap/starter-kit'
import { basicSetup, EditorView } from 'codemirror'
import { yCollab } from 'y-codemirror.next'
import type { Session, SharedDoc } from './session.ts'

type User = Session['user']

export function showRichText(
  element: HTMLElement,
  { doc, awareness }: SharedDoc,
  { name, color }: User,
): Editor {
  return new Editor({
    element,
    extensions: [
      // Collaboration has its own undo history.
      StarterKit.configure({ undoRedo: false }),
      Collaboration.configure({ document: doc }),
      CollaborationCaret.configure({ provider: { awareness }, user: { name, color } }),
    ],
  })
}

export function showCode(
  element: HTMLElement,
  { doc, awareness }: SharedDoc,
  { name, color }: User,
): EditorView {
  awareness.setLocalStateField('user', { name, color, colorLight: `${color}33` })
  const text = doc.getText('code')
  return new EditorView({
    doc: text.toString(),
    extensions: [basicSetup, EditorView.lineWrapping, yCollab(text, awareness)],
    parent: element,
  })
}
