import { createRequire } from 'node:module'
import { expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { useEditorScene } from '../../../test/support/editor-scene.ts'
import { settle } from '../../../test/support/fakes.ts'

const { fakes, openSyncedEditor, sentFrames } = useEditorScene()

test('[K7] document.editor throws for an unknown type', async () => {
  const { document } = await openSyncedEditor()
  expect(() => document.editor('other', { type: 'txt' as never })).toThrow(
    'type must be one of text, map, array, xml.',
  )
})

test('[K7.1] document.editor throws for a Y.Doc of another copy of Yjs, says how to keep one copy, and accepts a subclass of Y.Doc', async () => {
  const { document } = await openSyncedEditor()
  // Yjs logs an error when it is loaded twice.
  vi.spyOn(console, 'error').mockImplementation(() => {})
  // The package contains an ES module, which the client imports, and a CommonJS module, which is another copy.
  const require = createRequire(import.meta.url)
  const copy: typeof Y = require(require.resolve('yjs').replace(/mjs$/, 'cjs'))
  expect(copy.Doc).not.toBe(Y.Doc)
  expect(() => document.editor('other', { doc: new copy.Doc() })).toThrow(
    'run `npm dedupe`, or set `resolve.dedupe',
  )
  expect(() => document.editor('other', { doc: {} as never })).toThrow('doc must be a Y.Doc.')
  class OwnDoc extends Y.Doc {}
  expect(document.editor('other', { doc: new OwnDoc() }).status).toBe('connecting')
})

test('[K7] editor.close sends outstanding changes, rejects whenSaved and leaves the Y.Doc as it is', async () => {
  const { document, editor, text } = await openSyncedEditor()
  text.insert(0, 'last')
  const saved = editor.whenSaved()
  editor.close()
  expect(sentFrames().map(({ kind }) => kind)).toEqual(['update', 'awareness'])
  expect(fakes.server.socket.sent('closeEditor')).toEqual([{ type: 'closeEditor', channel: 1 }])
  await expect(saved).rejects.toMatchObject({ status: 'ABORTED' })
  expect(editor.status).toBe('closed')
  text.insert(0, 'after')
  await settle()
  expect(sentFrames('update')).toHaveLength(1)
  expect(document.editor('note')).not.toBe(editor)
  expect(editor.doc.getText().toJSON()).toBe('afterlast')
})

test('[K7] an editor reports once that it is closed, after the document has dropped the editor', async () => {
  const { editor, document } = await openSyncedEditor()
  const events: unknown[] = []
  editor.subscribe(({ status }) => events.push([status, document.editor(editor.editorId) === editor]))
  editor.close()
  expect(events).toEqual([['closed', false]])
})

test('[K7] an editor closes when its Y.Doc is destroyed', async () => {
  const { editor } = await openSyncedEditor()
  editor.doc.destroy()
  expect(editor.status).toBe('closed')
})
