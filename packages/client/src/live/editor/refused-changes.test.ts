import { expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { closeCodes } from '@plenum/protocol/realtime'
import { textAfter, useEditorScene } from '../../../test/support/editor-scene.ts'
import { settle } from '../../../test/support/fakes.ts'

const {
  fakes,
  acceptEditor,
  channel,
  deliverContent,
  deliverFrame,
  openEditor,
  openSyncedEditor,
  reconnect,
  refuse,
  sentFrames,
} = useEditorScene()

test('[K8] a refused change is sent once more in a sync reply, and the editor emits an error if the reply is refused too', async () => {
  const { editor, errors, text } = await openSyncedEditor()
  text.insert(0, 'a')
  const saved = editor.whenSaved()
  await settle()
  refuse(1)
  expect(editor.saved).toBe(false)
  text.insert(1, 'b')
  await vi.advanceTimersByTimeAsync(100)
  expect(fakes.server.socket.sent('openEditor')).toHaveLength(2)
  acceptEditor()
  deliverContent()
  expect(sentFrames('update')).toHaveLength(1)
  expect(textAfter(sentFrames('syncStep2'))).toBe('ab')
  expect(errors).toEqual([])
  refuse(2)
  await expect(saved).rejects.toMatchObject({ status: 'FAILED_PRECONDITION', message: 'Because.' })
  expect(errors).toHaveLength(1)
  // The editor does not send the sync reply a second time.
  deliverContent()
  text.insert(2, 'c')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(sentFrames('syncStep2')).toHaveLength(1)
  expect(sentFrames('update')).toHaveLength(1)
  expect(editor.saved).toBe(false)
  await expect(editor.whenSaved()).rejects.toMatchObject({ message: 'Because.' })
  await reconnect()
  deliverContent()
  deliverFrame('saved', 3)
  expect(editor.saved).toBe(true)
})

test('[K8] [S6.3] changes that a full editor refused are sent again when the server asks for them', async () => {
  const { editor, text } = await openSyncedEditor()
  text.insert(0, 'a')
  await settle()
  refuse(1, 'RESOURCE_EXHAUSTED')
  await vi.advanceTimersByTimeAsync(100)
  acceptEditor()
  deliverContent()
  refuse(2, 'RESOURCE_EXHAUSTED')
  text.insert(1, 'b')
  await settle()
  deliverContent()
  expect(textAfter(sentFrames('syncStep2'))).toBe('ab')
  expect(sentFrames('syncStep2')).toHaveLength(2)
  deliverFrame('saved', 3)
  expect(editor.saved).toBe(true)
  text.insert(2, 'c')
  await settle()
  expect(sentFrames('update')).toHaveLength(2)
})

test('[K8] [K7.2] a part that has only changes of another user, which the server refuses, does not keep back the parts behind it', async () => {
  const { editor, errors, text } = await openEditor()
  const other = new Y.Doc()
  // The parts of higher client ids are sent first.
  other.clientID = 2 ** 32 - 2
  other.getText().insert(0, 'x'.repeat(1_100_000))
  Y.applyUpdate(editor.doc, Y.encodeStateAsUpdate(other))
  text.insert(0, 'mine')
  deliverContent()
  await settle()
  const sent = () => [...sentFrames('update'), ...sentFrames('syncStep2')]
  const mine = new Y.Doc()
  let answered = 0
  while (answered < sent().length) {
    const part = Y.decodeUpdate(sent()[answered]?.bytes ?? Uint8Array.of(0, 0))
    const isOwn = part.structs.some(({ id }) => id.client === editor.doc.clientID)
    if (isOwn) Y.applyUpdate(mine, sent()[answered]?.bytes ?? Uint8Array.of(0, 0))
    if (isOwn) deliverFrame('saved', ++answered)
    else refuse(++answered, 'PERMISSION_DENIED')
    await settle()
  }
  expect(answered).toBeGreaterThan(4)
  expect(mine.store.clients.has(editor.doc.clientID)).toBe(true)
  // The page shows what is not stored.
  expect(editor.saved).toBe(false)
  expect(errors).toMatchObject([{ status: 'PERMISSION_DENIED', message: 'Because.' }])
  await expect(editor.whenSaved()).rejects.toMatchObject({ message: 'Because.' })
  // The user goes on writing.
  const before = sentFrames('update').length
  text.insert(0, 'more')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(sentFrames('update')).toHaveLength(before + 1)
  expect(errors).toHaveLength(1)
})

test('[K8] a refusal is ignored if a later update that contains the change was stored', async () => {
  const { editor, text } = await openSyncedEditor()
  text.insert(0, 'a')
  await settle()
  deliverFrame('syncStep1', Uint8Array.of(0))
  deliverFrame('saved', 2)
  refuse(1)
  expect(editor.saved).toBe(true)
  expect(fakes.server.socket.sent('closeEditor')).toEqual([])
})

test('[K8] [K7.2] a change with a single value above 1 MiB is not sent, and the editor emits an error', async () => {
  const { editor, errors } = await openSyncedEditor()
  editor.doc.getMap('map').set('bytes', new Uint8Array(1024 * 1024))
  await settle()
  expect(sentFrames('update')).toEqual([])
  expect(errors).toMatchObject([{ status: 'INVALID_ARGUMENT' }])
  expect(editor.saved).toBe(false)
})

test('[K3] [K8] an editor that the server closes is reopened after a temporary code, and fails after a final code', async () => {
  const { editor, document } = await openSyncedEditor()
  const closeEditor = (code: number) =>
    fakes.server.socket.deliver({ type: 'editorClosed', channel: channel(), code, reason: 'Because.' })
  closeEditor(closeCodes.unavailable)
  expect(editor.status).toBe('reconnecting')
  await vi.advanceTimersByTimeAsync(100)
  acceptEditor()
  deliverContent()
  expect(editor.status).toBe('connected')
  closeEditor(closeCodes.invalidUpdate)
  expect(editor.status).toBe('failed')
  expect(editor.ended).toEqual({ code: 4422, reason: 'Because.' })
  expect(document.status).toBe('connected')
  await expect(editor.whenSynced).resolves.toBeUndefined()
  editor.doc.getText().insert(0, 'x')
  await expect(editor.whenSaved()).rejects.toMatchObject({
    message: expect.stringMatching(
      /^org_1\/doc_1\/note: Because\. The local changes stay in `editor\.doc`\./,
    ),
  })
  await reconnect()
  expect(fakes.server.socket.sent('openEditor')).toEqual([])
})
