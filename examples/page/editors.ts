import { Editor } from '@tiptap/core'
import Collaboration from '@tiptap/extension-collaboration'
import CollaborationCaret from '@tiptap/extension-collaboration-caret'
import StarterKit from '@tiptap/starter-kit'
import { basicSetup, EditorView } from 'codemirror'
import { yCollab } from 'y-codemirror.next'
import type { Session, Shared } from './session.ts'

type User = Session['user']

export function richEditor(element: HTMLElement, { doc, awareness }: Shared, { name, color }: User): Editor {
  return new Editor({
    element,
    extensions: [
      // The shared document has a history of its own.
      StarterKit.configure({ undoRedo: false }),
      Collaboration.configure({ document: doc }),
      CollaborationCaret.configure({ provider: { awareness }, user: { name, color } }),
    ],
  })
}

export function codeEditor(
  element: HTMLElement,
  { doc, awareness }: Shared,
  { name, color }: User,
): EditorView {
  awareness.setLocalStateField('user', { name, color, colorLight: `${color}33` })
  const text = doc.getText('code')
  return new EditorView({
    doc: text.toString(),
    extensions: [basicSetup, yCollab(text, awareness)],
    parent: element,
  })
}
