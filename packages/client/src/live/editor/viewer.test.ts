import { expect, test, vi } from 'vitest'
import * as Y from 'yjs'
import { textAfter, useEditorScene } from '../../../test/support/editor-scene.ts'
import { settle } from '../../../test/support/fakes.ts'

const {
  fakes,
  acceptAll,
  acceptEditor,
  deliverContent,
  deliverFrame,
  openEditor,
  openSyncedEditor,
  refuse,
  sentFrames,
} = useEditorScene()

test('[K8.1] the changes of a viewer stay local, and are sent when the viewer becomes an editor', async () => {
  const { editor, errors, text } = await openEditor({}, 'viewer')
  deliverContent()
  expect(editor.state).toEqual({ status: 'connected', saved: true, readOnly: true })
  text.insert(0, 'mine')
  const denied = {
    status: 'PERMISSION_DENIED',
    message: 'You are a viewer of org_1/doc_1: your changes stay on this device until you become an editor.',
  }
  await expect(editor.whenSaved()).rejects.toMatchObject(denied)
  text.insert(4, ', and more')
  await expect(editor.whenSaved()).rejects.toMatchObject(denied)
  expect(errors).toMatchObject([denied])
  expect(editor.saved).toBe(false)
  expect(sentFrames('update')).toEqual([])
  fakes.server.socket.deliver({ type: 'access', ref: 1, accessRole: 'editor' })
  const saved = editor.whenSaved()
  await vi.advanceTimersByTimeAsync(100)
  acceptEditor()
  deliverContent()
  expect(textAfter(sentFrames('syncStep2'))).toBe('mine, and more')
  deliverFrame('saved', 1)
  await saved
  expect(editor.state).toEqual({ status: 'connected', saved: true, readOnly: false })
  expect(errors).toHaveLength(1)
})

test('[K8.1] the changes of a viewer are reported once, also after a reconnect, and whenSaved rejects', async () => {
  const { editor, errors, text } = await openEditor({}, 'viewer')
  deliverContent()
  text.insert(0, 'mine')
  fakes.server.socket.disconnect()
  await expect(editor.whenSaved()).rejects.toMatchObject({ status: 'PERMISSION_DENIED' })
  await fakes.untilNextSocket()
  acceptAll('viewer')
  deliverContent()
  refuse(1)
  await expect(editor.whenSaved()).rejects.toMatchObject({ status: 'PERMISSION_DENIED' })
  expect(errors).toHaveLength(1)
})

test('[K8.1] whenSaved rejects when the server refuses the offline changes of a user who has become a viewer', async () => {
  const { editor, errors, text } = await openSyncedEditor()
  fakes.server.socket.disconnect()
  text.insert(0, 'offline')
  const saved = editor.whenSaved()
  await fakes.untilNextSocket()
  acceptAll('viewer')
  deliverContent()
  expect(errors).toEqual([])
  refuse(1)
  await expect(saved).rejects.toMatchObject({ status: 'PERMISSION_DENIED' })
  expect(errors).toHaveLength(1)
})

test('[K8.1] the editor of a viewer sends local content, and is saved only if the server has that content already', async () => {
  const doc = new Y.Doc()
  doc.getText().insert(0, 'kept on the device')
  const { editor } = await openEditor({ doc }, 'viewer')
  deliverFrame('syncStep1', Uint8Array.of(0))
  expect(sentFrames('syncStep2')).toHaveLength(1)
  deliverFrame('saved', 1)
  expect(editor.saved).toBe(true)
  doc.getText().insert(0, 'not ')
  deliverFrame('syncStep1', Uint8Array.of(0))
  refuse(2)
  expect(editor.saved).toBe(false)
})

test('[K8.1] a change that is refused because the user has become a viewer is reported as PERMISSION_DENIED', async () => {
  const { document, editor, errors, text } = await openSyncedEditor()
  text.insert(0, 'a')
  await settle()
  fakes.server.socket.deliver({ type: 'access', ref: 1, accessRole: 'viewer' })
  expect(document.accessRole).toBe('viewer')
  refuse(1)
  expect(errors).toMatchObject([{ status: 'PERMISSION_DENIED' }])
  expect(editor.state).toEqual({ status: 'connected', saved: false, readOnly: true })
  text.insert(1, 'b')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(sentFrames('update')).toHaveLength(1)
  expect(fakes.server.socket.sent('openEditor')).toHaveLength(1)
})

test('[K8.1] an editor that becomes read-only stays saved if there are no unsaved changes', async () => {
  const { editor, text } = await openSyncedEditor()
  text.insert(0, 'a')
  await settle()
  deliverFrame('saved', 1)
  const states: unknown[] = []
  editor.subscribe((state) => states.push(state))
  fakes.server.socket.deliver({ type: 'access', ref: 1, accessRole: 'viewer' })
  await editor.whenSaved()
  expect(states).toEqual([{ status: 'connected', saved: true, readOnly: true }])
})

test('[K8.1] an update in flight is saved although the user has become a viewer', async () => {
  const { editor, text } = await openSyncedEditor()
  text.insert(0, 'a')
  await settle()
  fakes.server.socket.deliver({ type: 'access', ref: 1, accessRole: 'viewer' })
  expect(editor.saved).toBe(false)
  deliverFrame('saved', 1)
  expect(editor.saved).toBe(true)
})
