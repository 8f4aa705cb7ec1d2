import { expect } from 'vitest'
import * as Y from 'yjs'
import type { ErrorStatus } from '@plenum/protocol/errors'
import type { AccessRole } from '@plenum/protocol/realtime'
import type { LiveEditorOptions } from '../../src/index.ts'
import { decodeSentFrame } from './fake-server.ts'
import { collectErrors, settle, useFakes } from './fakes.ts'

type FrameKind = 'saved' | 'syncStep1' | 'syncStep2' | 'update' | 'awareness'

/** The steps of the tests about one editor, `org_1/doc_1/note`. */
export function useEditorScene() {
  const fakes = useFakes()

  const channel = () => fakes.server.socket.sent('openEditor').at(-1)?.channel ?? 0

  const deliverFrame = (kind: FrameKind, body: Uint8Array | number) =>
    fakes.server.socket.deliverFrame(channel(), kind, body)

  /** The server opens the editor for the client. */
  const acceptEditor = (accessRole: AccessRole = 'editor') =>
    fakes.server.socket.deliver({ type: 'editorOpened', channel: channel(), accessRole })

  /** The server accepts the connection, the document and the editor. */
  function acceptAll(accessRole: AccessRole = 'editor'): void {
    const { socket } = fakes.server
    socket.authenticate()
    const ref = socket.sent('open')[0]?.ref ?? 0
    socket.deliver({ type: 'opened', ref, accessRole, position: { epoch: 'e', seq: 1 }, reset: true })
    acceptEditor(accessRole)
  }

  async function openEditor(options: LiveEditorOptions = {}, accessRole: AccessRole = 'editor') {
    const connection = await fakes.connect()
    const document = connection.document('org_1', 'doc_1')
    const editor = document.editor('note', options)
    const errors = collectErrors(editor)
    acceptAll(accessRole)
    return { connection, document, editor, errors, text: editor.doc.getText() }
  }

  /** The server says what it has, and sends what the client lacks. */
  function deliverContent(stored = new Y.Doc()): void {
    deliverFrame('syncStep1', Y.encodeStateVector(stored))
    deliverFrame('syncStep2', Y.encodeStateAsUpdate(stored))
  }

  return {
    fakes,
    channel,
    deliverFrame,
    acceptEditor,
    acceptAll,
    deliverContent,
    openEditor,
    /** The frames that the client sent on the newest socket. */
    sentFrames: (kind?: string) =>
      fakes.server.socket.frames
        .map(decodeSentFrame)
        .filter((frame) => kind === undefined || frame.kind === kind),
    /** The server refuses the update with this number. */
    refuse: (number: number, status?: ErrorStatus) =>
      fakes.server.socket.deliverFrame(channel(), 'refused', number, 'Because.', status),
    /** Opens the editor, delivers its empty content and forgets the frames so far. */
    async openSyncedEditor() {
      const scene = await openEditor()
      deliverContent()
      await settle()
      fakes.server.socket.frames.length = 0
      return scene
    },
    async reconnect(): Promise<void> {
      fakes.server.socket.disconnect()
      await fakes.untilNextSocket()
      acceptAll()
    },
  }
}

/** The text of a new document after these frames. No update may depend on one that is missing. */
export function textAfter(frames: { bytes: Uint8Array }[]): string {
  const doc = new Y.Doc()
  for (const { bytes } of frames) Y.applyUpdate(doc, bytes)
  expect(doc.store.pendingStructs).toBeNull()
  return doc.getText().toJSON()
}
