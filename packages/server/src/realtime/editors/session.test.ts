import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import type { Decision } from '../../access/permissions.ts'
import type { ClientSocket } from '../sockets/client-socket.ts'
import { Connection } from '../sockets/connection.ts'
import { smallCrdt } from '../../../test/support/updates/document-work.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import { DocumentIndex } from '../../crdt/updates/document-index.ts'
import { ReservedClientIds } from '../rooms/awareness/reserved-client-ids.ts'
import { EditorRoom } from '../rooms/room.ts'
import type { EditorCodec } from './dialect-side.ts'
import { EditorSession } from './session.ts'
import { binaryMessage } from '../sockets/frames.ts'
import { OpenDocument } from '../documents/open-document.ts'
import type { Database } from '../../store/engine/db.ts'
import type { Log } from '../../platform/log/log.ts'
import { Scheduler } from '../../platform/turns/scheduler.ts'
import { Limiter } from '../../platform/turns/limiter.ts'
import { StartQueue } from '../../platform/turns/start-queue.ts'
import { SteppedClock } from '../../../test/support/clock.ts'
import { AccessVersions } from '../authorization/access-versions.ts'
import type { RoomDeps } from '../rooms/room-deps.ts'
import { Participant } from '../documents/participant.ts'
import { noPeers, noSharedLists } from '../../../test/support/servers/peers.ts'

const as = (accessRole: 'viewer' | 'editor'): Decision => ({
  allowed: true,
  accessRole,
  accessType: 'restricted',
})

const plainCodec: EditorCodec = {
  key: 'plain',
  syncStep1: () => Buffer.from('syncStep1;'),
  syncStep2: () => binaryMessage(Buffer.from('syncStep2;')),
  update: () => Buffer.from('update;'),
  awareness: () => Buffer.from('awareness;'),
  saved: (number) => Buffer.from(`saved ${number};`),
  refused: (number) => Buffer.from(`refused ${number};`),
}

/** One open document with its dependencies, and the controls that tests need. */
function scene({
  crdt = smallCrdt(),
  loads = Promise.resolve(),
}: { crdt?: Crdt; loads?: Promise<void> } = {}) {
  let decide = async (_userId: string): Promise<Decision> => as('editor')
  const failures: unknown[] = []
  const waiting = new Set<EditorRoom>()
  const ref = { organizationId: 'o1', documentId: 'd1', editorId: 'e1' }
  const accessVersions = new AccessVersions()
  const document = new OpenDocument({
    apiKey: 'k1',
    ref,
    accessVersions,
    onClosed() {},
    deps: {
      evaluateAccess: (_document, clients) =>
        Promise.all(clients.map(({ identity }) => decide(identity.userId))),
      roomLoader: {
        load: async ({ onDropped }) => {
          await loads
          return newRoom(onDropped)
        },
      },
      appender: { catchUp: async () => {}, receive() {}, makeSpace() {} },
      peers: noPeers(),
      // No test reads presence or live states.
      database: undefined as unknown as Database,
      gate: new Limiter(1),
      threadReads: {
        readChanged: async () => ({ changed: [], removed: [], unread: new Map(), isTooMany: false }),
        readViewed: async () => [],
      },
      scheduler: new Scheduler(),
      largeReads: new StartQueue(),
      sharedLists: noSharedLists(),
      clock: new SteppedClock(1_000),
      log: { error: ({ err }: { err: unknown }) => failures.push(err) } as unknown as Log,
      onUpdateRefused() {},
    },
  })
  const newRoom = (onDropped: RoomDeps<EditorRoom>['onDropped']): EditorRoom =>
    new EditorRoom({
      apiKey: 'k1',
      ref,
      index: DocumentIndex.of([]),
      stored: undefined,
      crdt,
      maxBytes: Infinity,
      wake: (one) => void waiting.add(one),
      catchUp: undefined,
      onCatchingUp() {},
      onError() {},
      makeSpace() {},
      sharedLists: noSharedLists(),
      reservedClientIds: new ReservedClientIds(),
      run() {},
      onDropped,
    })

  function join(userId: string) {
    const socket = new PassThrough()
    const closes: string[] = []
    let isPaused = false
    const ws = {
      close: (code: number) => closes.push(`closed ${code}`),
      pause: () => (isPaused = true),
      resume: () => (isPaused = false),
      terminate() {},
    }
    const connection = new Connection(
      `c-${userId}`,
      ws as unknown as ClientSocket,
      socket as unknown as Socket,
    )
    connection.inbox.start()
    const identity = {
      apiKey: 'k1',
      userId,
      name: undefined,
      email: undefined,
      isAdmin: false,
      look: { color: '#364fc7' },
      access: { userId, resources: [] },
      expiresAt: 1e9,
    }
    const onClosed = (reason: string, message: string) => {
      closes.push(`${reason}: ${message}`)
      session.leave()
      participant.leave()
    }
    const participant = new Participant(connection, identity, document, {
      onOpened: () => session.open('e1'),
      onRoleChanged() {},
      onClosed,
    })
    const session = new EditorSession({
      sessionId: `s-${userId}`,
      connection,
      participant,
      codec: plainCodec,
      listener: { onEditorClosed: onClosed },
    })
    document.members.add(participant)
    participant.start()
    return {
      session,
      participant,
      closes,
      isPaused: () => isPaused,
      received: () => String(socket.read() ?? ''),
    }
  }

  return {
    document,
    failures,
    join,
    room: () => document.rooms.get('e1')?.room as EditorRoom,
    /** Changes the access of all users. */
    decide(decision: typeof decide) {
      decide = decision
      accessVersions.bumpAll()
      void document.authorize()
    },
  }
}

/** The updates of a user who types these texts. */
function typed(...texts: string[]): Uint8Array[] {
  const doc = new Y.Doc()
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  for (const text of texts) doc.getText('content').insert(0, text)
  return updates
}

const deferred = <T>() => {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((done) => (resolve = done))
  return { promise, resolve }
}

describe('access that changes while a message is handled', () => {
  test('[R9] [R9.2] an update sent while the editor loads is refused if its sender becomes a viewer meanwhile', async () => {
    const loads = deferred<void>()
    const { join, room, decide } = scene({ loads: loads.promise })
    const ada = join('ada')
    await setImmediate()
    ada.session.update(1, typed('a')[0] as Uint8Array, false)
    const decision = deferred<Decision>()
    decide(() => decision.promise)
    loads.resolve()
    await setImmediate()
    expect(room().queuedBytes).toBe(0)
    decision.resolve(as('viewer'))
    await setImmediate()
    expect(room().queuedBytes).toBe(0)
    expect(ada.received()).toContain('refused 1;')
    expect(ada.isPaused()).toBe(false)
  })

  test('[R9] [R9.1] a client that loses access while its answer is built is closed and does not receive the answer', async () => {
    const merging = deferred<Uint8Array>()
    const { join, decide } = scene({ crdt: { ...smallCrdt(), merge: () => merging.promise } })
    const ada = join('ada')
    await setImmediate()
    ada.session.syncStep1(Uint8Array.of(0), false)
    await setImmediate()
    ada.received()
    decide(async () => ({ allowed: false, reason: 'no_grant', accessType: 'restricted' }))
    await setImmediate()
    merging.resolve(Uint8Array.of(0, 0))
    await setImmediate()
    expect(ada.closes).toEqual(['permissionDenied: The user may not open this document.'])
    expect(ada.received()).toBe('')
  })

  test('[R9] [R9.2] an out-of-order update is not stored if its sender may not write when the missing update arrives', async () => {
    const { join, room, decide } = scene()
    const [ada, bob] = [join('ada'), join('bob')]
    await setImmediate()
    const [base] = typed('base') as [Uint8Array]
    const doc = new Y.Doc()
    Y.applyUpdate(doc, base)
    doc.on('update', (update: Uint8Array) => bob.session.update(1, update, false))
    doc.getText('content').insert(4, '!')
    decide(async (userId) => as(userId === 'bob' ? 'viewer' : 'editor'))
    await setImmediate()
    ada.session.update(1, base, false)
    expect(room().takeBatch().updates).toHaveLength(1)
    decide(async () => as('editor'))
    await setImmediate()
    room().broadcast([{ seq: 1, bytes: base }])
    expect(room().takeBatch().updates).toHaveLength(1)
  })
})

describe('queued updates of a client that may not write any more', () => {
  /** A document with a text that Ada and Bob have. `demote` makes Ada a viewer. */
  async function withBase() {
    const { join, room, decide } = scene()
    const [ada, bob] = [join('ada'), join('bob')]
    await setImmediate()
    const [base] = typed('base text') as [Uint8Array]
    bob.session.update(1, base, false)
    room().acknowledge(room().takeBatch(), 1)
    room().committed.append(1, base)
    const demote = async () => {
      decide(async (userId) => as(userId === 'ada' ? 'viewer' : 'editor'))
      await setImmediate()
      expect(room().mustReview).toBe(true)
      await room().review()
    }
    const copy = () => {
      const doc = new Y.Doc()
      Y.applyUpdate(doc, base)
      return doc
    }
    return { ada, bob, room, demote, copy, base }
  }
  const changeOf = (doc: Y.Doc, change: (text: Y.Text) => void): Uint8Array => {
    const known = Y.encodeStateVector(doc)
    change(doc.getText('content'))
    return Y.encodeStateAsUpdate(doc, known)
  }

  test('[R32.1] [R32.3] the queued update of a demoted client is refused, and an equal update of another client is stored', async () => {
    const { ada, bob, room, demote, copy, base } = await withBase()
    const remove = changeOf(copy(), (text) => text.delete(0, 5))
    ada.session.update(1, remove, false)
    // The same update as Ada's. If hers were stored, Bob's would be a duplicate, and need not be stored.
    bob.session.update(2, remove, false)
    await demote()
    expect(ada.received()).toContain('refused 1;')
    const batch = room().takeBatch()
    const doc = new Y.Doc()
    for (const update of [base, batch.entry?.update as Uint8Array]) Y.applyUpdate(doc, update)
    expect(doc.getText('content').toJSON()).toBe('text')
    bob.received()
    room().acknowledge(batch, 2)
    expect(bob.received()).toContain('saved 2;')
    expect(ada.closes).toEqual([])
  })

  test('[R32.1] an update that depends on the refused update of a demoted client is not stored', async () => {
    const { ada, bob, room, demote, copy } = await withBase()
    const doc = copy()
    const first = changeOf(doc, (text) => text.insert(0, 'ada '))
    doc.clientID++
    const second = changeOf(doc, (text) => text.insert(0, 'bob '))
    ada.session.update(1, first, false)
    bob.session.update(2, second, false)
    bob.received()
    await demote()
    expect(room().hasWaiting).toBe(false)
    expect(bob.received()).not.toContain('saved')
  })

  test('[R32.1] the Yjs client id of a refused update can get another owner', async () => {
    const { ada, bob, room, demote, copy } = await withBase()
    const doc = copy()
    const insert = changeOf(doc, (text) => text.insert(0, 'ada '))
    ada.session.update(1, insert, false)
    await demote()
    bob.session.update(2, insert, false)
    expect(room().takeBatch().entry?.owners).toEqual([[doc.clientID, 'bob']])
  })

  test('[R32.3] the updates of another client keep their order while the updates of a demoted client are removed', async () => {
    const crdt = smallCrdt()
    const indexing = deferred<void>()
    const { join, room, decide } = scene({
      crdt: { ...crdt, index: (...parts) => indexing.promise.then(() => crdt.index(...parts)) },
    })
    const [ada, bob] = [join('ada'), join('bob')]
    await setImmediate()
    const [one, two, three] = typed('1', '2', '3') as [Uint8Array, Uint8Array, Uint8Array]
    ada.session.update(1, typed('ada')[0] as Uint8Array, false)
    bob.session.update(1, one, false)
    decide(async (userId) => as(userId === 'ada' ? 'viewer' : 'editor'))
    await setImmediate()
    const reviewing = room().review()
    await setImmediate()
    bob.session.update(2, two, false)
    bob.session.update(3, three, false)
    expect(room().isIdle).toBe(false)
    indexing.resolve()
    await reviewing
    const { entry, updates } = room().takeBatch()
    expect(updates).toHaveLength(3)
    const doc = new Y.Doc()
    Y.applyUpdate(doc, entry?.update as Uint8Array)
    expect(doc.getText('content').toJSON()).toBe('321')
  })
})

describe('the request for missing updates', () => {
  test('[R32.4] the request waits for a queued update of its user, and not for updates of other users', async () => {
    const { join, room } = scene()
    const ada = join('ada')
    await setImmediate()
    ada.session.update(1, typed('a')[0] as Uint8Array, false)
    const [bob, again] = [join('bob'), join('ada')]
    await setImmediate()
    expect(bob.received()).toContain('syncStep1;')
    expect(again.received()).not.toContain('syncStep1;')
    room().acknowledge(room().takeBatch(), 1)
    expect(again.received()).toContain('syncStep1;')
  })

  test('[R32.4] a user who writes without pause on another connection does not delay the request forever', async () => {
    const { join, room } = scene()
    const ada = join('ada')
    await setImmediate()
    const [first, ...others] = typed(...Array.from({ length: 20 }, String)) as [Uint8Array, ...Uint8Array[]]
    ada.session.update(1, first, false)
    const again = join('ada')
    await setImmediate()
    let received = ''
    for (const [index, update] of others.entries()) {
      const storing = room().takeBatch()
      ada.session.update(index + 2, update, false)
      room().acknowledge(storing, index + 1)
      received += again.received()
    }
    expect(received.match(/syncStep1;/g)).toHaveLength(1)
  })
})

describe('backpressure', () => {
  test('[R8] a client is on hold until its large update is saved, and another client whose update is refused meanwhile is not', async () => {
    const { join, room } = scene()
    const [ada, bob] = [join('ada'), join('bob')]
    await setImmediate()
    const [large, more] = typed('x'.repeat(300_000), 'y') as [Uint8Array, Uint8Array]
    ada.session.update(1, large, false)
    expect(ada.isPaused()).toBe(true)
    bob.session.update(1, more, false)
    expect(bob.received()).toContain('refused 1;')
    expect(bob.isPaused()).toBe(false)
    room().acknowledge(room().takeBatch(), 1)
    expect(ada.isPaused()).toBe(false)
  })

  test.each(['editor', 'viewer'] as const)(
    '[R8] a connection is not read while a large duplicate update of its user (%s) waits',
    async (role) => {
      const { join, room, decide } = scene()
      const [ada, bob] = [join('ada'), join('bob')]
      await setImmediate()
      const [large, more] = typed('x'.repeat(300_000), 'y') as [Uint8Array, Uint8Array]
      ada.session.update(1, large, true)
      room().acknowledge(room().takeBatch(), 1)
      decide(async (userId) => as(userId === 'bob' ? role : 'editor'))
      await setImmediate()
      ada.session.update(2, more, false)
      const storing = room().takeBatch()
      bob.session.update(1, large, true)
      expect(bob.isPaused()).toBe(true)
      room().acknowledge(storing, 2)
      room().acknowledge(room().takeBatch(), 2)
      expect(bob.received()).toContain('saved 1;')
      expect(bob.isPaused()).toBe(false)
    },
  )

  test('[R8] a connection is not read while thousands of its empty updates wait', async () => {
    const { join, room } = scene()
    const ada = join('ada')
    await setImmediate()
    ada.session.update(1, typed('x')[0] as Uint8Array, false)
    const storing = room().takeBatch()
    for (let number = 2; !ada.isPaused(); number++) {
      expect(number).toBeLessThan(10_000)
      ada.session.update(number, Uint8Array.of(0, 0), false)
    }
    room().acknowledge(storing, 1)
    while (room().hasWaiting) room().acknowledge(room().takeBatch(), 1)
    expect(ada.isPaused()).toBe(false)
  })

  test('[R8] a connection is read again when its room is dropped before its updates are stored', async () => {
    const { join, room } = scene()
    const ada = join('ada')
    await setImmediate()
    ada.session.update(1, typed('x'.repeat(300_000))[0] as Uint8Array, false)
    expect(ada.isPaused()).toBe(true)
    room().drop('gone', 'The document does not exist any more.')
    expect(ada.closes).toEqual(['gone: The document does not exist any more.'])
    expect(ada.isPaused()).toBe(false)
  })

  test('[R8] a waiting message that throws closes the document for its client only, and the connection is read again', async () => {
    const { join, failures } = scene()
    const [ada, bob] = [join('ada'), join('bob')]
    ada.participant.run(() => {
      throw new Error('no message')
    })
    await setImmediate()
    await setImmediate()
    expect(ada.closes).toEqual(['badMessage: The message is malformed.'])
    expect(ada.isPaused()).toBe(false)
    expect(bob.closes).toEqual([])
    expect(failures).toEqual([])
  })
})

describe('a dropped room', () => {
  test('[R7] a dropped room stores none of its queued updates, because they may depend on an update that is not stored', async () => {
    const { join, room } = scene()
    const ada = join('ada')
    await setImmediate()
    const [first, second] = typed('a', 'b') as [Uint8Array, Uint8Array]
    const held = room()
    ada.session.update(1, first, false)
    held.takeBatch()
    ada.session.update(2, second, false)
    held.drop('unavailable', 'What was sent could not be stored.')
    expect(held.takeBatch()).toEqual({ entry: undefined, updates: [] })
  })

  test('[R7] a client that opens an editor while its room is dropped is closed, and does not join the dropped room', async () => {
    const { document, join, room } = scene()
    join('ada')
    await setImmediate()
    const held = room()
    const bob = join('bob')
    bob.session.open('e1')
    held.drop('restarting', 'The document is being reloaded.')
    await setImmediate()
    expect(held.members.size).toBe(0)
    expect(bob.closes).toContain('restarting: The document is being reloaded.')
    expect(document.rooms.get('e1')?.room).not.toBe(held)
  })
})
