import { createRequire } from 'node:module'
import { describe, expect, test, vi } from 'vitest'
import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { type AccessRole, closeCodes, limits } from '@plenum/protocol/realtime'
import { readFrame } from '../../../test/support/fake-server.ts'
import { settle, useFakes } from '../../../test/support/fakes.ts'
import type { ApiError, LiveEditorOptions } from '../../index.ts'

const fakes = useFakes()
const { connect, untilNextSocket } = fakes

const sent = (kind?: string) =>
  fakes.server.socket.frames.map(readFrame).filter((frame) => kind === undefined || frame.kind === kind)
const channelOf = () => fakes.server.socket.sent('openEditor').at(-1)?.channel ?? 0
const sayFrame = (
  ...[kind, ...rest]: ['saved' | 'syncStep1' | 'syncStep2' | 'update' | 'awareness', Uint8Array | number]
) => fakes.server.socket.sayFrame(channelOf(), kind, ...rest)
const refuse = (number: number) => fakes.server.socket.sayFrame(channelOf(), 'refused', number, 'Because.')

/** Lets the document and its editors in. */
function welcome(accessRole: AccessRole = 'editor'): void {
  const { socket } = fakes.server
  socket.welcome()
  const ref = socket.sent('open')[0]?.ref ?? 0
  socket.say({ type: 'opened', ref, accessRole, position: { epoch: 'e', seq: 1 }, reset: true })
  openChannel(accessRole)
}

function openChannel(accessRole: AccessRole = 'editor'): void {
  fakes.server.socket.say({ type: 'editorOpened', channel: channelOf(), accessRole })
}

/** What the server does when an editor is opened. */
function greet(doc = new Y.Doc()): void {
  sayFrame('syncStep1', Y.encodeStateVector(doc))
  sayFrame('syncStep2', Y.encodeStateAsUpdate(doc))
}

async function openEditor(options: LiveEditorOptions = {}, accessRole: AccessRole = 'editor') {
  const connection = await connect()
  const document = connection.document('org_1', 'doc_1')
  const editor = document.editor('note', options)
  const errors: ApiError[] = []
  editor.on('error', (error) => errors.push(error))
  welcome(accessRole)
  return { connection, document, editor, errors, text: editor.doc.getText() }
}

async function openSynced() {
  const scene = await openEditor()
  greet()
  await settle()
  fakes.server.socket.frames.length = 0
  return scene
}

async function reconnect(): Promise<void> {
  fakes.server.socket.drop()
  await untilNextSocket()
  welcome()
}

const textAfter = (...updates: Uint8Array[]) => {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  expect(doc.store.pendingStructs).toBeNull()
  return doc.getText().toJSON()
}

describe('[K7] an editor', () => {
  test('[K7] says what it has, and is there when the server has sent the rest', async () => {
    const { editor } = await openEditor({ type: 'text', contentKey: 'body' })
    expect(fakes.server.socket.sent('openEditor')).toEqual([
      { type: 'openEditor', ref: 1, channel: 1, editorId: 'note', contentType: 'text', contentKey: 'body' },
    ])
    expect(sent('syncStep1')).toMatchObject([{ channel: 1, bytes: Uint8Array.of(0) }])
    expect(editor.state).toEqual({ status: 'connecting', saved: true, readOnly: false })
    const stored = new Y.Doc()
    stored.getText().insert(0, 'stored')
    let seen = ''
    editor.subscribe(() => (seen = editor.doc.getText().toJSON()))
    greet(stored)
    await editor.whenSynced
    expect(seen).toBe('stored')
    expect(editor.state).toEqual({ status: 'connected', saved: true, readOnly: false })
    expect(sent('syncStep2')).toEqual([])
  })

  test('[K7] sends the changes of one moment as one update', async () => {
    const { text } = await openSynced()
    text.insert(0, 'a')
    text.insert(1, 'b')
    expect(sent()).toEqual([])
    await settle()
    text.insert(2, 'c')
    await settle()
    expect(sent()).toMatchObject([
      { kind: 'update', number: 1 },
      { kind: 'update', number: 2 },
    ])
    expect(textAfter(...sent().map(({ bytes }) => bytes))).toBe('abc')
  })

  test('[K7] is saved when the server has stored the last change, and not before', async () => {
    const { editor, text } = await openSynced()
    const states: boolean[] = []
    editor.subscribe(({ saved }) => states.push(saved))
    text.insert(0, 'a')
    expect(editor.saved).toBe(false)
    const saved = editor.whenSaved()
    await settle()
    text.insert(1, 'b')
    await settle()
    sayFrame('saved', 1)
    expect(editor.saved).toBe(false)
    sayFrame('saved', 2)
    expect(editor.saved).toBe(true)
    await saved
    await editor.whenSaved()
    expect(states).toEqual([false, true])
  })

  test('[K7] sends what was written without a connection as part of the whole', async () => {
    const { editor, text } = await openSynced()
    text.insert(0, 'a')
    await settle()
    sayFrame('saved', 1)
    text.insert(1, 'b')
    await settle()
    fakes.server.socket.drop()
    expect(editor.state).toEqual({ status: 'reconnecting', saved: false, readOnly: false })
    text.insert(2, 'c')
    await untilNextSocket()
    welcome()
    text.insert(3, 'd')
    await settle()
    expect(sent('update')).toEqual([])
    expect(sent('syncStep2')).toEqual([])
    const stored = new Y.Doc()
    sayFrame('syncStep1', Y.encodeStateVector(stored))
    expect(sent('syncStep2')).toMatchObject([{ channel: 2, number: 3 }])
    expect(textAfter(...sent('syncStep2').map(({ bytes }) => bytes))).toBe('abcd')
    text.insert(4, 'e')
    await settle()
    expect(sent('update')).toMatchObject([{ number: 4 }])
    sayFrame('saved', 3)
    expect(editor.saved).toBe(false)
    sayFrame('saved', 4)
    expect(editor.saved).toBe(true)
  })

  test('[K7] is saved after a reconnect if the server has it all, though it could not say so', async () => {
    const { editor, text } = await openSynced()
    text.insert(0, 'a')
    await settle()
    const stored = new Y.Doc()
    for (const { bytes } of sent('update')) Y.applyUpdate(stored, bytes)
    await reconnect()
    expect(editor.saved).toBe(false)
    greet(stored)
    expect(sent('syncStep2')).toEqual([])
    expect(editor.saved).toBe(true)
  })

  test('[K7] sends what a given document holds already', async () => {
    const doc = new Y.Doc()
    doc.getText().insert(0, 'kept on the device')
    const { editor } = await openEditor({ doc })
    expect(editor.doc).toBe(doc)
    expect(editor.saved).toBe(false)
    greet()
    expect(textAfter(...sent('syncStep2').map(({ bytes }) => bytes))).toBe('kept on the device')
    sayFrame('saved', 1)
    expect(editor.saved).toBe(true)
  })

  test('[K7] holds back while much is on its way, then sends it as one', async () => {
    const { editor, text } = await openSynced()
    for (let i = 0; i < 100; i++) {
      text.insert(i, 'x')
      await settle()
    }
    expect(sent('update')).toHaveLength(32)
    sayFrame('saved', 32)
    expect(sent('update')).toHaveLength(33)
    expect(textAfter(...sent('update').map(({ bytes }) => bytes))).toBe('x'.repeat(100))
    expect(editor.saved).toBe(false)
    sayFrame('saved', 33)
    expect(editor.saved).toBe(true)
  })

  test('[K7] does not send what it got', async () => {
    const { text } = await openSynced()
    const other = new Y.Doc()
    other.getText().insert(0, 'theirs')
    sayFrame('update', Y.encodeStateAsUpdate(other))
    await settle()
    expect(text.toJSON()).toBe('theirs')
    expect(sent('update')).toEqual([])
  })

  test('[K7] lives on when something that watches its content throws', async () => {
    const { editor, errors, text } = await openSynced()
    text.observe(() => {
      throw new Error('of a view')
    })
    const other = new Y.Doc()
    other.getText().insert(0, 'theirs')
    sayFrame('update', Y.encodeStateAsUpdate(other))
    expect(text.toJSON()).toBe('theirs')
    expect(editor.status).toBe('connected')
    expect(errors).toMatchObject([
      { status: 'INTERNAL', message: 'An observer of the content failed: Error: of a view' },
    ])
  })

  test('[K7] that is closed has sent everything before', async () => {
    const { document, editor, text } = await openSynced()
    text.insert(0, 'last words')
    const saved = editor.whenSaved()
    editor.close()
    expect(sent().map(({ kind }) => kind)).toEqual(['update', 'awareness'])
    expect(fakes.server.socket.sent('closeEditor')).toEqual([{ type: 'closeEditor', channel: 1 }])
    await expect(saved).rejects.toMatchObject({ status: 'ABORTED' })
    expect(editor.status).toBe('closed')
    text.insert(0, 'after')
    await settle()
    expect(sent('update')).toHaveLength(1)
    expect(document.editor('note')).not.toBe(editor)
    expect(editor.doc.getText().toJSON()).toBe('afterlast words')
  })

  test('[K7] is told to be closed once, when it cannot be found any more', async () => {
    const { editor, document } = await openSynced()
    const heard: unknown[] = []
    editor.subscribe(({ status }) => heard.push([status, document.editor(editor.editorId) === editor]))
    editor.close()
    expect(heard).toEqual([['closed', false]])
  })

  test('[K7] has one of four types', async () => {
    const { document } = await openSynced()
    expect(() => document.editor('other', { type: 'txt' as never })).toThrow(
      'type must be one of text, map, array, xml.',
    )
  })

  test('[K7.1] refuses a document of another copy of Yjs, and says how to keep one', async () => {
    const { document } = await openSynced()
    // Yjs itself complains about the second copy.
    vi.spyOn(console, 'error').mockImplementation(() => {})
    // The package has the same code as an ES module, which is used here, and as a CommonJS module.
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

  test('[K7] is closed with its document', async () => {
    const { editor } = await openSynced()
    editor.doc.destroy()
    expect(editor.status).toBe('closed')
  })
})

describe('[K8] what the server does not take', () => {
  test('[K8] is sent once more as part of the whole; if that is refused too, it is told', async () => {
    const { editor, errors, text } = await openSynced()
    text.insert(0, 'a')
    const saved = editor.whenSaved()
    await settle()
    refuse(1)
    expect(editor.saved).toBe(false)
    text.insert(1, 'b')
    await vi.advanceTimersByTimeAsync(100)
    expect(fakes.server.socket.sent('openEditor')).toHaveLength(2)
    openChannel()
    greet()
    expect(sent('update')).toHaveLength(1)
    expect(textAfter(...sent('syncStep2').map(({ bytes }) => bytes))).toBe('ab')
    expect(errors).toEqual([])
    refuse(2)
    await expect(saved).rejects.toMatchObject({ status: 'FAILED_PRECONDITION', message: 'Because.' })
    expect(errors).toHaveLength(1)
    // It does not go round in circles.
    greet()
    text.insert(2, 'c')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(sent('syncStep2')).toHaveLength(1)
    expect(sent('update')).toHaveLength(1)
    expect(editor.saved).toBe(false)
    await reconnect()
    greet()
    sayFrame('saved', 3)
    expect(editor.saved).toBe(true)
  })

  test('[K8] counts as taken when something later that held it was stored', async () => {
    const { editor, text } = await openSynced()
    text.insert(0, 'a')
    await settle()
    sayFrame('syncStep1', Uint8Array.of(0))
    sayFrame('saved', 2)
    refuse(1)
    expect(editor.saved).toBe(true)
    expect(fakes.server.socket.sent('closeEditor')).toEqual([])
  })

  test('[K8] because it is too large is not sent at all', async () => {
    const { editor, errors, text } = await openSynced()
    text.insert(0, 'x'.repeat(1024 * 1024))
    await settle()
    expect(sent('update')).toEqual([])
    expect(errors).toMatchObject([{ status: 'INVALID_ARGUMENT' }])
    expect(editor.saved).toBe(false)
  })

  test('[K8.1] because the user may only read stays here, until that changes', async () => {
    const { editor, errors, text } = await openEditor({}, 'viewer')
    greet()
    expect(editor.state).toEqual({ status: 'connected', saved: true, readOnly: true })
    text.insert(0, 'mine')
    const denied = {
      status: 'PERMISSION_DENIED',
      message:
        'You are a viewer of org_1/doc_1: your changes stay on this device until you become an editor.',
    }
    await expect(editor.whenSaved()).rejects.toMatchObject(denied)
    text.insert(4, ', and more')
    await expect(editor.whenSaved()).rejects.toMatchObject(denied)
    expect(errors).toMatchObject([denied])
    expect(editor.saved).toBe(false)
    expect(sent('update')).toEqual([])
    fakes.server.socket.say({ type: 'access', ref: 1, accessRole: 'editor' })
    const saved = editor.whenSaved()
    await vi.advanceTimersByTimeAsync(100)
    openChannel()
    greet()
    expect(textAfter(...sent('syncStep2').map(({ bytes }) => bytes))).toBe('mine, and more')
    sayFrame('saved', 1)
    await saved
    expect(editor.state).toEqual({ status: 'connected', saved: true, readOnly: false })
    expect(errors).toHaveLength(1)
  })

  test('[K8.1] of a viewer is reported once, also after another connection, and never waited for', async () => {
    const { editor, errors, text } = await openEditor({}, 'viewer')
    greet()
    text.insert(0, 'mine')
    fakes.server.socket.drop()
    await expect(editor.whenSaved()).rejects.toMatchObject({ status: 'PERMISSION_DENIED' })
    await untilNextSocket()
    welcome('viewer')
    greet()
    refuse(1)
    await expect(editor.whenSaved()).rejects.toMatchObject({ status: 'PERMISSION_DENIED' })
    expect(errors).toHaveLength(1)
  })

  test('[K8.1] that was typed offline rejects once the server says that the user is a viewer', async () => {
    const { editor, errors, text } = await openSynced()
    fakes.server.socket.drop()
    text.insert(0, 'offline')
    const saved = editor.whenSaved()
    await untilNextSocket()
    welcome('viewer')
    greet()
    expect(errors).toEqual([])
    refuse(1)
    await expect(saved).rejects.toMatchObject({ status: 'PERMISSION_DENIED' })
    expect(errors).toHaveLength(1)
  })

  test('[K8.1] is asked about, if a reader has something that the server may know', async () => {
    const doc = new Y.Doc()
    doc.getText().insert(0, 'kept on the device')
    const { editor } = await openEditor({ doc }, 'viewer')
    sayFrame('syncStep1', Uint8Array.of(0))
    expect(sent('syncStep2')).toHaveLength(1)
    sayFrame('saved', 1)
    expect(editor.saved).toBe(true)
    doc.getText().insert(0, 'not ')
    sayFrame('syncStep1', Uint8Array.of(0))
    refuse(2)
    expect(editor.saved).toBe(false)
  })

  test('[K8.1] of somebody who has just become a reader is told as that', async () => {
    const { document, editor, errors, text } = await openSynced()
    text.insert(0, 'a')
    await settle()
    fakes.server.socket.say({ type: 'access', ref: 1, accessRole: 'viewer' })
    expect(document.accessRole).toBe('viewer')
    refuse(1)
    expect(errors).toMatchObject([{ status: 'PERMISSION_DENIED' }])
    expect(editor.state).toEqual({ status: 'connected', saved: false, readOnly: true })
    text.insert(1, 'b')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(sent('update')).toHaveLength(1)
    expect(fakes.server.socket.sent('openEditor')).toHaveLength(1)
  })

  test('[K8.1] an editor that becomes read-only stays saved when nothing was typed', async () => {
    const { editor, text } = await openSynced()
    text.insert(0, 'a')
    await settle()
    sayFrame('saved', 1)
    const states: unknown[] = []
    editor.subscribe((state) => states.push(state))
    fakes.server.socket.say({ type: 'access', ref: 1, accessRole: 'viewer' })
    await editor.whenSaved()
    expect(states).toEqual([{ status: 'connected', saved: true, readOnly: true }])
  })

  test('[K8.1] an update sent before the editor became read-only is saved when the server says so', async () => {
    const { editor, text } = await openSynced()
    text.insert(0, 'a')
    await settle()
    fakes.server.socket.say({ type: 'access', ref: 1, accessRole: 'viewer' })
    expect(editor.saved).toBe(false)
    sayFrame('saved', 1)
    expect(editor.saved).toBe(true)
  })

  test('[K8] may close the editor: for good, or for a moment', async () => {
    const { editor, document } = await openSynced()
    const say = (code: number) =>
      fakes.server.socket.say({ type: 'editorClosed', channel: channelOf(), code, reason: 'Because.' })
    say(closeCodes.unavailable)
    expect(editor.status).toBe('reconnecting')
    await vi.advanceTimersByTimeAsync(100)
    openChannel()
    greet()
    expect(editor.status).toBe('connected')
    say(closeCodes.invalidUpdate)
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
})

describe('[K9] the awareness of an editor', () => {
  /** Somebody else, as the server would tell of them. */
  function other() {
    const awareness = new Awareness(new Y.Doc())
    return {
      awareness,
      id: awareness.clientID,
      tell(state: Record<string, unknown> | null) {
        awareness.setLocalState(state)
        sayFrame('awareness', encodeAwarenessUpdate(awareness, [awareness.clientID]))
      },
      hear(update: Uint8Array) {
        applyAwarenessUpdate(awareness, update, 'server')
      },
    }
  }

  test('[K9] tells of the own state, and of the own only', async () => {
    const { editor } = await openSynced()
    const bob = other()
    bob.tell({ name: 'Bob' })
    editor.awareness.setLocalState({ name: 'Ada' })
    editor.awareness.setLocalStateField('cursor', 5)
    await settle()
    expect(sent()).toHaveLength(1)
    for (const { bytes } of sent('awareness')) bob.hear(bytes)
    expect(Object.fromEntries(bob.awareness.getStates())).toEqual({
      [bob.id]: { name: 'Bob' },
      [editor.awareness.clientID]: { name: 'Ada', cursor: 5 },
    })
    bob.awareness.destroy()
  })

  test('[K9] forgets the others without a connection, and hears and tells anew after it', async () => {
    const { editor } = await openSynced()
    const own = editor.awareness.clientID
    const bob = other()
    bob.tell({ name: 'Bob' })
    editor.awareness.setLocalState({ name: 'Ada' })
    await settle()
    for (const { bytes } of sent('awareness')) bob.hear(bytes)
    fakes.server.socket.drop()
    expect([...editor.awareness.getStates().keys()]).toEqual([own])
    // The server tells the others that this client is gone, one step later.
    const clock = (bob.awareness.meta.get(own)?.clock ?? 0) + 1
    bob.awareness.states.delete(own)
    bob.awareness.meta.set(own, { clock, lastUpdated: 0 })
    await untilNextSocket()
    welcome()
    await settle()
    for (const { bytes } of sent('awareness')) bob.hear(bytes)
    expect(bob.awareness.getStates().get(own)).toEqual({ name: 'Ada' })
    sayFrame('awareness', encodeAwarenessUpdate(bob.awareness, [bob.id]))
    expect(editor.awareness.getStates().get(bob.id)).toEqual({ name: 'Bob' })
    bob.awareness.destroy()
  })

  test('[K9] is taken away when the page is left, and comes back with it', async () => {
    const page = new EventTarget()
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
    vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
    const { editor } = await openSynced()
    const bob = other()
    editor.awareness.setLocalState({ name: 'Ada' })
    page.dispatchEvent(new Event('pagehide'))
    for (const { bytes } of sent('awareness')) bob.hear(bytes)
    expect(bob.awareness.getStates().has(editor.awareness.clientID)).toBe(false)
    page.dispatchEvent(new Event('pageshow'))
    for (const { bytes } of sent('awareness')) bob.hear(bytes)
    expect(bob.awareness.getStates().get(editor.awareness.clientID)).toEqual({ name: 'Ada' })
    bob.awareness.destroy()
  })

  test('[K9] must not be larger than 16 KiB', async () => {
    const { editor, errors } = await openSynced()
    editor.awareness.setLocalState({ text: 'x'.repeat(limits.awarenessBytes) })
    await settle()
    expect(sent('awareness')).toEqual([])
    expect(errors).toMatchObject([{ status: 'INVALID_ARGUMENT' }])
  })
})
