import type { ApiError, Connection, LiveEditor, VersionEvent } from '@plenum/client'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import { stores, useServer } from '../../support/harness.ts'
import { addVersions, storedLog } from '../../support/data/editors.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
const open: Connection[] = []
afterEach(() => {
  for (const connection of open.splice(0)) connection.close()
})

describe.each(stores)('versions at /realtime on %s', (database) => {
  const server = useServer(database, { isOwn: true })

  function connect(token: string, documentId = 'doc_1') {
    const sockets: WebSocket[] = []
    class Socket extends WebSocket {
      constructor(url: string) {
        super(url)
        sockets.push(this)
      }
    }
    const connection = server.client().connect({ token, WebSocket: Socket })
    open.push(connection)
    const editor = connection.document('org_1', documentId).editor('note', { type: 'text' })
    const events: VersionEvent[] = []
    editor.versions.subscribe((event) => events.push(event))
    const content = editor.doc.getText('content')
    return {
      connection,
      editor,
      versions: editor.versions,
      events,
      text: () => content.toJSON(),
      type: (words: string) => content.insert(content.length, words),
      cut: () => sockets.at(-1)?.terminate(),
    }
  }

  async function connectUser(tenant: given.Tenant, userId: string, role?: 'viewer' | 'editor') {
    const client = connect(await tokenFor(tenant, userId, role && { role }))
    await client.editor.whenSynced
    return client
  }

  const refusal = (call: Promise<unknown>) =>
    call.then(
      () => 'done',
      ({ status, message }: ApiError) => `${status}: ${message}`,
    )

  const names = async ({ versions }: { versions: LiveEditor['versions'] }) =>
    (await versions.list()).versions.map(({ name }) => name)

  /** Stores `count` versions of an existing editor. */
  async function store(tenant: given.Tenant, count: number) {
    const log = await storedLog(server, tenant, editorRef)
    const versionIds = Array.from({ length: count }, (_, index) => `v${index}`)
    await addVersions(server, tenant, editorRef, versionIds, log!.updates[0]!.bytes)
  }

  test('[R37] [R37.5] [R37.6] one user adds a version, another restores it, and both clients are notified of both', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [await connectUser(tenant, 'ada'), await connectUser(tenant, 'bob')]
    ada.type('first')
    const version = await ada.versions.add(' Draft ')
    expect(version).toEqual({
      versionId: expect.stringMatching(/^ver_/),
      name: 'Draft',
      type: 'text',
      createdAt: expect.any(Number),
      createdBy: { userId: 'ada', name: 'Name of ada' },
    })
    for (const { events } of [ada, bob]) await eventually(() => events).toEqual([{ type: 'added', version }])

    await eventually(bob.text).toBe('first')
    bob.type(', then more')
    await eventually(ada.text).toBe('first, then more')
    await bob.versions.restore(version.versionId)
    for (const { text } of [ada, bob]) await eventually(text).toBe('first')
    const restored = { type: 'restored', version, restoredBy: { userId: 'bob', name: 'Name of bob' } }
    for (const { events } of [ada, bob]) await eventually(() => events.slice(1)).toEqual([restored])

    expect(await bob.versions.list()).toEqual({ versions: [version] })
    expect((await tenant.client.crdtVersions.get(editorRef)).data).toEqual([version])
    expect((await tenant.client.crdt.get(editorRef)).data[0]).toMatchObject({
      data: 'first',
      lastUpdatedBy: 'bob',
    })
  })

  test('[R37.3] a version contains everything that its author typed before', async () => {
    const tenant = await given.tenant(server)
    const ada = await connectUser(tenant, 'ada')
    for (let round = 0; round < 3; round++) {
      for (let word = 0; word < 100; word++) ada.type(`${round}.${word} `)
      const { versionId } = await ada.versions.add(`round ${round}`)
      const { data } = await tenant.client.crdtVersions.get({ ...editorRef, versionId })
      expect(data[0]?.data).toBe(ada.text())
    }
  })

  test('[R37.6] [17.4.2] clients are notified of versions that a backend adds and restores, with the user that the backend names', async () => {
    const tenant = await given.tenant(server)
    const ada = await connectUser(tenant, 'ada')
    ada.type('Hello')
    await ada.editor.whenSaved()
    const nameless = (await tenant.client.crdtVersions.add({ ...editorRef, name: 'nightly' })).data
    expect(nameless).not.toHaveProperty('createdBy')
    const named = (await tenant.client.crdtVersions.add({ ...editorRef, name: 'for ada', userId: 'ada' }))
      .data
    expect(named.createdBy).toEqual({ userId: 'ada', name: 'Name of ada' })
    const unknown = (await tenant.client.crdtVersions.add({ ...editorRef, name: 'x', userId: 'nobody' })).data
    expect(unknown.createdBy).toEqual({ userId: 'nobody' })
    await tenant.client.crdtVersions.restore({ ...editorRef, versionId: named.versionId })
    await eventually(() => ada.events).toEqual([
      { type: 'added', version: nameless },
      { type: 'added', version: named },
      { type: 'added', version: unknown },
      { type: 'restored', version: named },
    ])
    const listed = (await ada.versions.list()).versions
    expect(new Set(listed)).toEqual(new Set([nameless, named, unknown]))
  })

  test('[R37.2] a viewer lists versions and is notified of them, but cannot add or restore one', async () => {
    const tenant = await given.tenant(server)
    const ada = await connectUser(tenant, 'ada')
    const viewer = await connectUser(tenant, 'vic', 'viewer')
    ada.type('Hello')
    const { versionId } = await ada.versions.add('one')
    ada.type(' world')
    const denied = 'PERMISSION_DENIED: The user may read this document, but not change it.'
    expect(await refusal(viewer.versions.add('two'))).toBe(denied)
    expect(await refusal(viewer.versions.restore(versionId))).toBe(denied)
    await eventually(() => viewer.events.map(({ type }) => type)).toEqual(['added'])
    expect(await names(viewer)).toEqual(['one'])
    expect(ada.text()).toBe('Hello world')
  })

  test('[R37] versions are listed in pages, newest first', async () => {
    const tenant = await given.tenant(server)
    const ada = await connectUser(tenant, 'ada')
    expect(await ada.versions.list()).toEqual({ versions: [] })
    ada.type('Hello')
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      server.clock.offsetMs += 1
      await ada.versions.add(name)
    }
    const pages: string[][] = []
    let pageToken: string | undefined
    do {
      const page = await ada.versions.list({ pageSize: 2, ...(pageToken && { pageToken }) })
      pages.push(page.versions.map(({ name }) => name))
      pageToken = page.nextPageToken
    } while (pageToken)
    expect(pages).toEqual([['e', 'd'], ['c', 'b'], ['a']])
    expect(await refusal(ada.versions.list({ pageToken: 'x' }))).toBe('INVALID_ARGUMENT: Invalid page token.')
  })

  test('[R37.1] a version of another document or of another tenant can be neither listed nor restored', async () => {
    const [tenant, other] = [await given.tenant(server), await given.tenant(server)]
    const ada = await connectUser(tenant, 'ada')
    const elsewhere = connect(await tokenFor(tenant, 'ada'), 'doc_2')
    const stranger = await connectUser(other, 'ada')
    for (const { type } of [ada, elsewhere, stranger]) type('Hello')
    const { versionId } = await ada.versions.add('one')
    for (const client of [elsewhere, stranger]) {
      await client.editor.whenSaved()
      expect(await refusal(client.versions.restore(versionId))).toBe('NOT_FOUND: Version not found.')
      expect(await names(client)).toEqual([])
      expect(client.events).toEqual([])
    }
  })

  test('[R37.1] an editor without content refuses to add or restore a version', async () => {
    const tenant = await given.tenant(server)
    const ada = await connectUser(tenant, 'ada')
    const missing = 'NOT_FOUND: No CRDT data found for this editor ID.'
    expect(await refusal(ada.versions.add('x'))).toBe(missing)
    expect(await refusal(ada.versions.restore('x'))).toBe(missing)
  })

  test('[R37.4] users can add versions until the editor has 500, and add or restore 20 a minute, and a backend can add the 501st', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [await connectUser(tenant, 'ada'), await connectUser(tenant, 'bob')]
    ada.type('Hello')
    await ada.editor.whenSaved()
    await store(tenant, 481)
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, index) => refusal(ada.versions.add(`${index}`))),
    )
    const full =
      'RESOURCE_EXHAUSTED: The editor has 500 versions. Users can add versions up to 500, backends up to 1000.'
    expect(added.filter((outcome) => outcome === 'done')).toHaveLength(19)
    expect(added.filter((outcome) => outcome !== 'done')).toEqual([full])
    const tooOften =
      /^RESOURCE_EXHAUSTED: A user can add or restore 20 versions a minute\. Try again in \d+ seconds\.$/
    expect(await refusal(ada.versions.add('x'))).toMatch(tooOften)
    expect(await refusal(ada.versions.restore('v1'))).toMatch(tooOften)
    expect(await refusal(bob.versions.restore('v1'))).toBe('done')
    expect((await tenant.client.crdtVersions.add({ ...editorRef, name: 'backend' })).data.name).toBe(
      'backend',
    )
  })

  test('[K15] [K15.1] a reconnected client is asked to read the list again, and its calls made offline are carried out', async () => {
    const tenant = await given.tenant(server)
    const [ada, bob] = [await connectUser(tenant, 'ada'), await connectUser(tenant, 'bob')]
    ada.type('Hello')
    await ada.versions.add('one')
    await eventually(() => bob.events.length).toBe(1)
    bob.cut()
    await eventually(() => bob.editor.status).toBe('reconnecting')
    const waiting = bob.versions.add('while offline')
    await ada.versions.add('missed')
    bob.connection.reconnect()
    expect((await waiting).createdBy?.userId).toBe('bob')
    await eventually(() => bob.events.map(({ type }) => type)).toContain('changed')
    expect(new Set(await names(bob))).toEqual(new Set(['one', 'missed', 'while offline']))
  })

  test('[R37.7] migrated versions keep their author, and clients are asked to read the list again', async () => {
    const tenant = await given.tenant(server)
    const old = { ...editorRef, documentId: 'doc_old' }
    await tenant.client.crdt.add({ ...old, type: 'text', data: 'Hello' })
    const brought = (await tenant.client.crdtVersions.add({ ...old, name: 'one', userId: 'cleo' })).data
    const ada = await connectUser(tenant, 'ada')
    expect(await names(ada)).toEqual([])
    const move = { organizationId: 'org_1', documentId: 'doc_old', newDocumentId: 'doc_1' }
    await tenant.client.documents.migrate(move)
    await eventually(() => ada.events).toContainEqual({ type: 'changed' })
    await eventually(async () => (await ada.versions.list()).versions).toEqual([brought])
    expect(brought.createdBy).toEqual({ userId: 'cleo' })
  })

  test('[R32] [R37.2] a user who becomes a viewer adds no version after the answer to the call that changed the role', async () => {
    const tenant = await given.tenant(server)
    await given.restrictedDocument(tenant, 'doc_1')
    const document = { type: 'document', id: 'doc_1', organizationId: 'org_1' } as const
    const ada = connect(await tokenFor(tenant, 'ada', { resources: [document] }))
    await ada.editor.whenSynced
    ada.type('x'.repeat(50_000))
    await ada.editor.whenSaved()
    const outcomes = Array.from({ length: 10 }, (_, index) => refusal(ada.versions.add(`${index}`)))
    await Promise.race(outcomes)
    await tenant.client.permissions.add({
      userId: 'ada',
      permissions: { resources: [{ ...document, accessRole: 'viewer' }] },
    })
    const atAnswer = (await tenant.client.crdtVersions.get(editorRef)).data.length
    const done = (await Promise.all(outcomes)).filter((outcome) => outcome === 'done')
    expect((await tenant.client.crdtVersions.get(editorRef)).data).toHaveLength(atAnswer)
    expect(done).toHaveLength(atAnswer)
    expect(atAnswer).toBeLessThanOrEqual(10)
  })

  test('[S2] many concurrent version lists do not block the event loop', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: 'x'.repeat(10_000) })
    await store(tenant, 1000)
    const clients = await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        RealtimeSocket.connect(server, await tokenFor(tenant, `u${index}`)),
      ),
    )
    const ids = Array.from({ length: 9 }, (_, id) => id)
    await expectShortIterations(async () => {
      // Messages sent before the document is open wait and then start together.
      for (const client of clients) {
        client.send({ type: 'open', ref: 1, organizationId: 'org_1', documentId: 'doc_1', topics: [] })
        client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: 'note' })
        for (const id of ids) client.send({ type: 'listVersions', channel: 1, id, pageSize: 1 })
      }
      await Promise.all(clients.flatMap((client) => ids.map((id) => client.take('done', { id }))))
    })
  })

  test('[R37] [17.4.2] a backend on a socket adds versions without an author', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: 'Hello' })
    const client = new RealtimeSocket(server, { headers: tenant.headers })
    await client.take('ready')
    await client.open()
    await client.openEditor()
    client.send({ type: 'addVersion', channel: 1, id: 1, name: 'one' })
    const { version } = await client.take('done', { id: 1 })
    expect(version).toMatchObject({ name: 'one' })
    expect(version).not.toHaveProperty('createdBy')
  })

  test('[R10.1] [R10.2] version requests that cannot be carried out are refused, and malformed ones close the connection with 4400', async () => {
    const tenant = await given.tenant(server)
    const client = await RealtimeSocket.connect(server, await tokenFor(tenant))
    await client.open()
    await client.openEditor()
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'Hello')
    client.sendFrame('update', Y.encodeStateAsUpdate(doc), 1, 1)
    const base = { channel: 1, id: 7 }
    const refused: [object, string, string][] = [
      [{ ...base, channel: 2, type: 'listVersions' }, 'NOT_FOUND', 'No editor is open under this channel.'],
      [
        { ...base, channel: 2, type: 'addVersion', name: 'x' },
        'NOT_FOUND',
        'No editor is open under this channel.',
      ],
      [
        { ...base, type: 'listVersions', pageSize: 0 },
        'INVALID_ARGUMENT',
        'pageSize must be an integer between 1 and 100.',
      ],
      [
        { ...base, type: 'listVersions', pageSize: 101 },
        'INVALID_ARGUMENT',
        'pageSize must be an integer between 1 and 100.',
      ],
      [{ ...base, type: 'addVersion', name: ' ' }, 'INVALID_ARGUMENT', 'name must not be blank.'],
      [
        { ...base, type: 'addVersion', name: 'x'.repeat(201) },
        'INVALID_ARGUMENT',
        'name must have at most 200 characters.',
      ],
      [
        { ...base, type: 'addVersion', name: 'a\0b' },
        'INVALID_ARGUMENT',
        'name must not contain the NUL character.',
      ],
      [{ ...base, type: 'restoreVersion', versionId: 'ver_of_nothing' }, 'NOT_FOUND', 'Version not found.'],
    ]
    for (const [message, status, text] of refused) {
      client.socket.send(JSON.stringify(message))
      const { channel, ...error } = await client.take('error', { id: 7 })
      expect(error).toEqual({ type: 'error', id: 7, status, message: text })
      expect(channel).toBe((message as { channel: number }).channel)
    }
    client.send({ ...base, type: 'listVersions' })
    expect(await client.take('done', { id: 7 })).toEqual({ type: 'done', id: 7, versions: [] })

    const malformed: [object, string][] = [
      [{ type: 'listVersions', channel: 1 }, 'id is required.'],
      [{ type: 'listVersions', id: 1 }, 'channel is required.'],
      [{ ...base, type: 'listVersions', pageSize: '5' }, 'pageSize must be an integer.'],
      [{ ...base, type: 'listVersions', pageToken: 5 }, 'pageToken must be a string.'],
      [{ ...base, type: 'addVersion' }, 'name is required.'],
      [{ ...base, type: 'addVersion', name: 'x'.repeat(1001) }, 'name must have at most 1000 characters.'],
      [{ ...base, type: 'restoreVersion', versionId: {} }, 'versionId must be a string.'],
    ]
    for (const [message, reason] of malformed) {
      const another = await RealtimeSocket.connect(server, await tokenFor(tenant))
      another.socket.send(JSON.stringify(message))
      expect(await another.closed).toEqual({ code: 4400, reason })
    }
  })
})

describe.each(stores)('the request limit of an API key on %s', (database) => {
  const server = useServer(database, { isAlone: true, env: { LIMIT_API_KEY_REQUESTS_PER_MINUTE: '4' } })

  test('[R37.1] adding and restoring versions count towards the request limit of the API key, and listing does not', async () => {
    const tenant = await given.tenant(server)
    // Issuing the token is the first of the four requests.
    const client = await RealtimeSocket.connect(server, await tokenFor(tenant))
    await client.open()
    await client.openEditor()
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'Hello')
    client.sendFrame('update', Y.encodeStateAsUpdate(doc), 1, 1)
    await client.takeFrame('saved')
    const list = (id: number) => {
      client.send({ type: 'listVersions', channel: 1, id })
      return client.take('done', { id })
    }
    for (let id = 1; id <= 5; id++) await list(id)
    client.send({ type: 'addVersion', channel: 1, id: 6, name: 'one' })
    const { version } = await client.take('done', { id: 6 })
    const versionId = version?.versionId ?? ''
    for (const id of [7, 8]) {
      client.send({ type: 'restoreVersion', channel: 1, id, versionId })
      await client.take('done', { id })
    }
    client.send({ type: 'addVersion', channel: 1, id: 9, name: 'two' })
    client.send({ type: 'restoreVersion', channel: 1, id: 10, versionId })
    for (const id of [9, 10]) {
      expect(await client.take('error', { id })).toMatchObject({
        status: 'RESOURCE_EXHAUSTED',
        message: 'Rate limit exceeded. Try again after 1 minute.',
      })
    }
    expect((await list(11)).versions).toHaveLength(1)
  })
})
