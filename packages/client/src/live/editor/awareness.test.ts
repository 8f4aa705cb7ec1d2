import { expect, test, vi } from 'vitest'
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { limits } from '@plenum/protocol/realtime'
import { useEditorScene } from '../../../test/support/editor-scene.ts'
import { settle } from '../../../test/support/fakes.ts'

const { fakes, acceptAll, deliverFrame, openSyncedEditor, sentFrames } = useEditorScene()

/** Another client, whose frames the server forwards. */
function otherClient() {
  const awareness = new Awareness(new Y.Doc())
  return {
    awareness,
    clientId: awareness.clientID,
    publish(state: Record<string, unknown> | null) {
      awareness.setLocalState(state)
      deliverFrame('awareness', encodeAwarenessUpdate(awareness, [awareness.clientID]))
    },
    /** Applies the awareness frames that the client under test has sent. */
    receiveAll() {
      for (const { bytes } of sentFrames('awareness')) applyAwarenessUpdate(awareness, bytes, 'server')
    },
  }
}

test('[K9] the awareness of an editor sends only the local state', async () => {
  const { editor } = await openSyncedEditor()
  const bob = otherClient()
  bob.publish({ name: 'Bob' })
  editor.awareness.setLocalState({ name: 'Ada' })
  editor.awareness.setLocalStateField('cursor', 5)
  await settle()
  expect(sentFrames()).toHaveLength(1)
  bob.receiveAll()
  expect(Object.fromEntries(bob.awareness.getStates())).toEqual({
    [bob.clientId]: { name: 'Bob' },
    [editor.awareness.clientID]: { name: 'Ada', cursor: 5 },
  })
  bob.awareness.destroy()
})

test('[K9] the awareness of an editor drops the states of other clients while disconnected, and publishes the local state again after the reconnect', async () => {
  const { editor } = await openSyncedEditor()
  const own = editor.awareness.clientID
  const bob = otherClient()
  bob.publish({ name: 'Bob' })
  editor.awareness.setLocalState({ name: 'Ada' })
  await settle()
  bob.receiveAll()
  fakes.server.socket.disconnect()
  expect([...editor.awareness.getStates().keys()]).toEqual([own])
  // The server broadcasts that this client is gone, with the next clock.
  const clock = (bob.awareness.meta.get(own)?.clock ?? 0) + 1
  bob.awareness.states.delete(own)
  bob.awareness.meta.set(own, { clock, lastUpdated: 0 })
  await fakes.untilNextSocket()
  acceptAll()
  await settle()
  bob.receiveAll()
  expect(bob.awareness.getStates().get(own)).toEqual({ name: 'Ada' })
  deliverFrame('awareness', encodeAwarenessUpdate(bob.awareness, [bob.clientId]))
  expect(editor.awareness.getStates().get(bob.clientId)).toEqual({ name: 'Bob' })
  bob.awareness.destroy()
})

test('[K9] the awareness of an editor removes the local state when the page is hidden, and restores it when the page is shown', async () => {
  const page = new EventTarget()
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
  const { editor } = await openSyncedEditor()
  const bob = otherClient()
  editor.awareness.setLocalState({ name: 'Ada' })
  page.dispatchEvent(new Event('pagehide'))
  bob.receiveAll()
  expect(bob.awareness.getStates().has(editor.awareness.clientID)).toBe(false)
  page.dispatchEvent(new Event('pageshow'))
  bob.receiveAll()
  expect(bob.awareness.getStates().get(editor.awareness.clientID)).toEqual({ name: 'Ada' })
  bob.awareness.destroy()
})

test('[K9] an awareness state above 16 KiB is not sent, and the editor emits an error', async () => {
  const { editor, errors } = await openSyncedEditor()
  editor.awareness.setLocalState({ text: 'x'.repeat(limits.awarenessBytes) })
  await settle()
  expect(sentFrames('awareness')).toEqual([])
  expect(errors).toMatchObject([{ status: 'INVALID_ARGUMENT' }])
})
