import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { textAfter, useEditorScene } from '../../../test/support/editor-scene.ts'
import { settle } from '../../../test/support/fakes.ts'

const {
  fakes,
  acceptAll,
  deliverContent,
  deliverFrame,
  openEditor,
  openSyncedEditor,
  reconnect,
  sentFrames,
} = useEditorScene()

test('[K7] an editor sends its state vector, and is connected when the content of the server has arrived', async () => {
  const { editor } = await openEditor({ type: 'text', contentKey: 'body' })
  expect(fakes.server.socket.sent('openEditor')).toEqual([
    { type: 'openEditor', ref: 1, channel: 1, editorId: 'note', contentType: 'text', contentKey: 'body' },
  ])
  expect(sentFrames('syncStep1')).toMatchObject([{ channel: 1, bytes: Uint8Array.of(0) }])
  expect(editor.state).toEqual({ status: 'connecting', saved: true, readOnly: false })
  const stored = new Y.Doc()
  stored.getText().insert(0, 'stored')
  let textSeen = ''
  editor.subscribe(() => (textSeen = editor.doc.getText().toJSON()))
  deliverContent(stored)
  await editor.whenSynced
  expect(textSeen).toBe('stored')
  expect(editor.state).toEqual({ status: 'connected', saved: true, readOnly: false })
  expect(sentFrames('syncStep2')).toEqual([])
})

test('[K7] an editor sends all changes of one task as one update', async () => {
  const { text } = await openSyncedEditor()
  text.insert(0, 'a')
  text.insert(1, 'b')
  expect(sentFrames()).toEqual([])
  await settle()
  text.insert(2, 'c')
  await settle()
  expect(sentFrames()).toMatchObject([
    { kind: 'update', number: 1 },
    { kind: 'update', number: 2 },
  ])
  expect(textAfter(sentFrames())).toBe('abc')
})

test('[K7] an editor is saved when the server has stored the last change, and not before', async () => {
  const { editor, text } = await openSyncedEditor()
  const savedValues: boolean[] = []
  editor.subscribe(({ saved }) => savedValues.push(saved))
  text.insert(0, 'a')
  expect(editor.saved).toBe(false)
  const saved = editor.whenSaved()
  await settle()
  text.insert(1, 'b')
  await settle()
  deliverFrame('saved', 1)
  expect(editor.saved).toBe(false)
  deliverFrame('saved', 2)
  expect(editor.saved).toBe(true)
  await saved
  await editor.whenSaved()
  expect(savedValues).toEqual([false, true])
})

test('[K7] after a reconnect, one sync reply contains all changes that the server lacks', async () => {
  const { editor, text } = await openSyncedEditor()
  text.insert(0, 'a')
  await settle()
  deliverFrame('saved', 1)
  text.insert(1, 'b')
  await settle()
  fakes.server.socket.disconnect()
  expect(editor.state).toMatchObject({ status: 'reconnecting', saved: false, readOnly: false })
  text.insert(2, 'c')
  await fakes.untilNextSocket()
  acceptAll()
  text.insert(3, 'd')
  await settle()
  expect(sentFrames('update')).toEqual([])
  expect(sentFrames('syncStep2')).toEqual([])
  const stored = new Y.Doc()
  deliverFrame('syncStep1', Y.encodeStateVector(stored))
  expect(sentFrames('syncStep2')).toMatchObject([{ channel: 2, number: 3 }])
  expect(textAfter(sentFrames('syncStep2'))).toBe('abcd')
  text.insert(4, 'e')
  await settle()
  expect(sentFrames('update')).toMatchObject([{ number: 4 }])
  deliverFrame('saved', 3)
  expect(editor.saved).toBe(false)
  deliverFrame('saved', 4)
  expect(editor.saved).toBe(true)
})

test('[K7] [K7.2] after a reconnect, changes of more than 1 MiB are sent in parts, each when the one before is stored, and then what was typed meanwhile', async () => {
  const { editor, text } = await openSyncedEditor()
  fakes.server.socket.disconnect()
  text.insert(0, 'x'.repeat(1_200_000))
  await fakes.untilNextSocket()
  acceptAll()
  deliverContent()
  await settle()
  const stored = new Y.Doc()
  const sentUpdates = () => sentFrames().filter(({ kind }) => kind === 'update' || kind === 'syncStep2')
  for (let seen = 0; !editor.saved;) {
    if (seen === 1) text.insert(0, 'typed ')
    await settle()
    const frames = sentUpdates()
    // What was typed may follow the last part at once.
    const isLast = frames.some(({ kind }) => kind === 'syncStep2')
    expect(frames.length - seen).toBe(isLast ? 2 : 1)
    for (; seen < frames.length; seen++) {
      Y.applyUpdate(stored, frames[seen]?.bytes as Uint8Array)
      expect(stored.store.pendingStructs).toBeNull()
    }
    deliverFrame('saved', seen)
  }
  const kinds = sentUpdates().map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'syncStep2')).toHaveLength(1)
  expect(kinds.indexOf('syncStep2')).toBeGreaterThan(kinds.indexOf('update'))
  expect(stored.getText().toJSON() === `typed ${'x'.repeat(1_200_000)}`).toBe(true)
})

test('[K7] after a reconnect an editor is saved when the server answers, also if the server lacks nothing', async () => {
  const { editor, text } = await openSyncedEditor()
  text.insert(0, 'a')
  await settle()
  const stored = new Y.Doc()
  for (const { bytes } of sentFrames('update')) Y.applyUpdate(stored, bytes)
  await reconnect()
  expect(editor.saved).toBe(false)
  // The server may have received the change without having stored it.
  deliverContent(stored)
  expect(sentFrames('syncStep2')).toMatchObject([{ number: 2 }])
  expect(editor.saved).toBe(false)
  deliverFrame('saved', 2)
  expect(editor.saved).toBe(true)
})

test('[K7] an editor sends the content of a given Y.Doc', async () => {
  const doc = new Y.Doc()
  doc.getText().insert(0, 'kept on the device')
  const { editor } = await openEditor({ doc })
  expect(editor.doc).toBe(doc)
  expect(editor.saved).toBe(false)
  deliverContent()
  expect(textAfter(sentFrames('syncStep2'))).toBe('kept on the device')
  deliverFrame('saved', 1)
  expect(editor.saved).toBe(true)
})

test('[K7] an editor sends no more than 32 updates without an answer, and then the rest as one update', async () => {
  const { editor, text } = await openSyncedEditor()
  for (let i = 0; i < 100; i++) {
    text.insert(i, 'x')
    await settle()
  }
  expect(sentFrames('update')).toHaveLength(32)
  deliverFrame('saved', 32)
  expect(sentFrames('update')).toHaveLength(33)
  expect(textAfter(sentFrames('update'))).toBe('x'.repeat(100))
  expect(editor.saved).toBe(false)
  deliverFrame('saved', 33)
  expect(editor.saved).toBe(true)
})

test('[K7] an editor does not send changes that it received', async () => {
  const { text } = await openSyncedEditor()
  const other = new Y.Doc()
  other.getText().insert(0, 'theirs')
  deliverFrame('update', Y.encodeStateAsUpdate(other))
  await settle()
  expect(text.toJSON()).toBe('theirs')
  expect(sentFrames('update')).toEqual([])
})

test('[K7] an editor stays connected if an observer of its content throws, and reports the error', async () => {
  const { editor, errors, text } = await openSyncedEditor()
  text.observe(() => {
    throw new Error('thrown by a view')
  })
  const other = new Y.Doc()
  other.getText().insert(0, 'theirs')
  deliverFrame('update', Y.encodeStateAsUpdate(other))
  expect(text.toJSON()).toBe('theirs')
  expect(editor.status).toBe('connected')
  expect(errors).toMatchObject([
    { status: 'INTERNAL', message: 'An observer of the content failed: Error: thrown by a view' },
  ])
})
