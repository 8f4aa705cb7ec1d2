import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { closeCodes } from '@plenum/protocol/realtime'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { eventually, tokenFor, yjsClient } from '../../support/live.ts'
import { RealtimeClient, View } from '../../support/clients/realtime-client.ts'

const place = { organizationId: 'org_1', documentId: 'doc_1' }

describe.each(stores)('the protocol of /realtime on %s', (store) => {
  const server = useServer(store)
  const connect = async (tenant: given.Tenant, userId = 'ada', role?: 'viewer' | 'editor') =>
    RealtimeClient.connect(server, await tokenFor(tenant, userId, { role }))

  test('[R5] [R5.1] [R10] the token comes in the first message, in the address, or the headers of a backend in its place', async () => {
    const tenant = await given.tenant(server)
    const first = new RealtimeClient(server)
    await first.connected()
    first.send({ type: 'auth', token: await tokenFor(tenant) })
    expect(await first.take('ready')).toEqual({
      type: 'ready',
      connectionId: expect.any(String),
      userId: 'ada',
      expiresAt: expect.any(Number),
    })
    const inAddress = new RealtimeClient(server, { query: `?token=${await tokenFor(tenant, 'bob')}` })
    expect(await inAddress.take('ready')).toMatchObject({ userId: 'bob' })
    const backend = new RealtimeClient(server, { headers: tenant.headers })
    expect(await backend.take('ready')).toMatchObject({
      userId: 'server',
      expiresAt: Number.MAX_SAFE_INTEGER,
    })
    expect(await backend.open()).toMatchObject({ accessRole: 'editor', presence: [] })
  })

  test('[R10] [R16.1] messages may follow the token at once', async () => {
    const client = new RealtimeClient(server)
    const token = await tokenFor(await given.tenant(server))
    await client.connected()
    client.send({ type: 'auth', token })
    client.send({ type: 'open', ref: 7, ...place, topics: [] })
    client.send({ type: 'setLiveState', ref: 7, id: 1, liveStateDataId: 'a', data: {} })
    client.send({ type: 'openEditor', ref: 7, channel: 3, editorId: 'note' })
    await client.take('ready')
    const opened = await client.take('opened')
    expect(opened).toEqual({
      type: 'opened',
      ref: 7,
      accessRole: 'editor',
      position: { epoch: expect.any(String), seq: 0 },
      reset: true,
    })
    expect(await client.take('done')).toEqual({
      type: 'done',
      id: 1,
      position: { ...opened.position, seq: 1 },
    })
    expect(await client.take('editorOpened')).toEqual({
      type: 'editorOpened',
      channel: 3,
      accessRole: 'editor',
    })
  })

  test('[R5.2] [R16.2] nobody is let in without a good token', async () => {
    const tenant = await given.tenant(server)
    const token = await tokenFor(tenant)
    const refusals: [string, number, RegExp][] = [
      [JSON.stringify({ type: 'auth', token: `${token}x` }), closeCodes.unauthenticated, /^token_invalid/],
      [JSON.stringify({ type: 'auth', token: 'x' }), closeCodes.unauthenticated, /^token_invalid/],
      [JSON.stringify({ type: 'ping' }), closeCodes.badMessage, /auth/],
      [JSON.stringify({ type: 'open', ref: 1, ...place, topics: [] }), closeCodes.badMessage, /auth/],
      [JSON.stringify({ type: 'auth', token: 'x'.repeat(20_000) }), closeCodes.badMessage, /bytes/],
    ]
    for (const [message, code, reason] of refusals) {
      const client = new RealtimeClient(server)
      await client.connected()
      client.socket.send(message)
      expect(await client.closed).toEqual({ code, reason: expect.stringMatching(reason) })
      expect(client.messages).toEqual([])
    }
    const binary = new RealtimeClient(server)
    await binary.connected()
    binary.socket.send(Uint8Array.of(1, 0, 0))
    expect(await binary.closed).toMatchObject({ code: closeCodes.badMessage })
  })

  test('[R10.4] a fresh token renews all documents; another user’s, or a bad one, is refused and changes nothing', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open('doc_1', { ref: 1 })
    await client.open('doc_2', { ref: 2 })
    try {
      server.clock.offsetMs = (48 * 60 * 60 - 30) * 1000
      const { expiresAt } = await client.take('tokenExpiring')
      expect(expiresAt * 1000).toBeGreaterThan(Date.now() + server.clock.offsetMs)
      client.send({ type: 'auth', token: await tokenFor(tenant, 'bob') })
      expect(await client.take('error')).toMatchObject({ status: 'UNAUTHENTICATED' })
      client.send({ type: 'auth', token: 'nonsense' })
      expect(await client.take('error')).toMatchObject({ status: 'UNAUTHENTICATED' })
      client.send({ type: 'auth', token: await tokenFor(tenant) })
      const renewed = await client.take('ready')
      expect(renewed.expiresAt).toBeGreaterThan(expiresAt)
      server.clock.offsetMs += 60_000
      for (const ref of [1, 2]) expect(await client.set('a', {}, { ref })).toMatchObject({ type: 'done' })
      // Once for both documents, and not again.
      expect(client.messages.filter(({ type }) => type === 'tokenExpiring')).toEqual([])
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[R10.3] a token that ends closes the documents; the socket stays and takes a new one', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open()
    await client.openEditor()
    try {
      server.clock.offsetMs = 49 * 60 * 60 * 1000
      expect(await client.take('closed')).toEqual({
        type: 'closed',
        ref: 1,
        code: closeCodes.unauthenticated,
        reason: expect.stringMatching(/^token_expired/),
      })
      client.send({ type: 'auth', token: await tokenFor(tenant) })
      await client.take('ready')
      expect(await client.open()).toMatchObject({ reset: true })
    } finally {
      server.clock.offsetMs = 0
    }
  })

  test('[R10.3] who may not open a document is told so, and other documents go on', async () => {
    const tenant = await given.tenant(server)
    const organizationId = await given.organization(tenant)
    const documents = [{ documentId: 'secret', accessType: 'restricted' as const }]
    await tenant.client.documents.add({ organizationId, documents })
    const client = await connect(tenant)
    await client.open('doc_1', { ref: 1 })
    client.send({ type: 'open', ref: 2, organizationId: 'org_1', documentId: 'secret', topics: [] })
    expect(await client.take('closed')).toEqual({
      type: 'closed',
      ref: 2,
      code: closeCodes.permissionDenied,
      reason: 'The user may not open this document.',
    })
    expect(await client.set('a', {})).toMatchObject({ type: 'done' })
    // The ref is free again.
    await client.open('doc_2', { ref: 2 })
  })

  test('[R10.3] access that is taken away closes the document; a role that changes is told', async () => {
    const tenant = await given.tenant(server)
    const { client: backend } = tenant
    const client = await RealtimeClient.connect(server, await tokenFor(tenant, 'ada', { resources: [] }))
    await given.users(tenant, ['ada'], place)
    expect(await client.open()).toMatchObject({ accessRole: 'editor' })
    await client.openEditor()
    await backend.users.update({ ...place, users: [{ userId: 'ada', accessRole: 'viewer' }] })
    expect(await client.take('access')).toEqual({ type: 'access', ref: 1, accessRole: 'viewer' })
    expect(await client.set('a', {})).toMatchObject({ type: 'error', status: 'PERMISSION_DENIED' })
    await backend.documents.updateDisableState({
      organizationId: 'org_1',
      documentIds: ['doc_1'],
      disabled: true,
    })
    expect(await client.take('closed')).toMatchObject({ ref: 1, code: closeCodes.permissionDenied })
    expect(await client.set('a', {})).toMatchObject({ type: 'error', status: 'NOT_FOUND' })
    await client.open('doc_2')
  })

  test('[R10.3] a document that is deleted is closed for its clients and may be made anew', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    const { position } = await client.open()
    await client.set('a', { old: true })
    await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    expect(await client.take('closed')).toMatchObject({ ref: 1, code: closeCodes.gone })
    server.clock.offsetMs += 1
    const again = await client.open()
    expect(again).toMatchObject({ reset: true, liveStates: [], position: { seq: 0 } })
    expect(again.position.epoch).not.toBe(position.epoch)
  })

  test('[R10.2] what is well formed but cannot be done is refused, and changes nothing', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open()
    client.send({ type: 'open', ref: 1, organizationId: 'org_1', documentId: 'doc_2', topics: [] })
    expect(await client.take('error')).toMatchObject({ ref: 1, status: 'ALREADY_EXISTS' })
    client.send({ type: 'setPresence', ref: 2, status: 'away' })
    expect(await client.take('error')).toMatchObject({ ref: 2, status: 'NOT_FOUND' })
    expect(await client.set('a', {}, { ref: 2 })).toMatchObject({ id: 1, ref: 2, status: 'NOT_FOUND' })
    const accepted =
      'must have 1 to 256 characters, must not contain control characters and must not be "." or "..".'
    expect(await client.set('a\nb', {})).toMatchObject({
      id: 2,
      ref: 1,
      status: 'INVALID_ARGUMENT',
      message: `liveStateDataId ${accepted}`,
    })
    client.send({ type: 'openEditor', ref: 2, channel: 1, editorId: 'note' })
    expect(await client.take('error')).toMatchObject({ ref: 2, channel: 1, status: 'NOT_FOUND' })
    client.send({ type: 'open', ref: 3, organizationId: 'org\n1', documentId: 'doc_2', topics: [] })
    expect(await client.take('closed')).toMatchObject({
      ref: 3,
      code: closeCodes.badMessage,
      reason: `organizationId ${accepted}`,
    })
    client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: '..' })
    expect(await client.take('editorClosed')).toMatchObject({
      channel: 1,
      code: closeCodes.badMessage,
      reason: `editorId ${accepted}`,
    })
    client.sendFrame('update', Uint8Array.of(0, 0), 9, 1)
    expect(await client.take('error')).toMatchObject({ channel: 9, status: 'NOT_FOUND' })
    await client.openEditor()
    client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: 'other' })
    expect(await client.take('error')).toMatchObject({ channel: 1, status: 'ALREADY_EXISTS' })
    // Nothing to refuse: what is not open is closed.
    client.send({ type: 'close', ref: 9 })
    client.send({ type: 'closeEditor', channel: 9 })
    await client.settled()
    expect(client.messages).toEqual([])
    expect(await client.set('a', {})).toMatchObject({ type: 'done', position: { seq: 1 } })
  })

  test('[R10.1] a frame that is no message ends its connection and reaches nobody else', async () => {
    const tenant = await given.tenant(server)
    const bystander = await connect(tenant, 'bob')
    const view = new View(bystander)
    await bystander.open()
    const open = { type: 'open', ref: 1, ...place, topics: [] }
    const set = { type: 'setLiveState', ref: 1, id: 1, liveStateDataId: 'evil', data: {} }
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const keys = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 1])))
    const cases: [string | Uint8Array, RegExp][] = [
      ['', /^The message is not JSON/],
      ['{', /JSON/],
      ['{"type":"open","ref":01}', /^ref: The message is not JSON/],
      ['nonsense', /JSON/],
      ['null', /object/],
      ['[]', /object/],
      ['{}', /^type must be one of/],
      ['{"type":"toString"}', /^type must be one of/],
      ['{"type":"ready"}', /^type must be one of/],
      ['{"type":"__proto__"}', /^type must be one of/],
      [JSON.stringify({ ...open, ref: -1 }), /^ref must be an integer/],
      [JSON.stringify({ ...open, ref: 1.5 }), /^ref must be an integer/],
      [JSON.stringify({ ...open, ref: '1' }), /^ref must be an integer/],
      [JSON.stringify({ ...open, ref: 2 ** 53 }), /^ref must be an integer/],
      [JSON.stringify({ ...open, organizationId: 1 }), /^organizationId must be a string/],
      [JSON.stringify({ ...open, documentId: '' }), /^documentId must be a string/],
      [JSON.stringify({ ...open, documentId: 'x'.repeat(2000) }), /^documentId must be at most/],
      [JSON.stringify({ ...open, topics: 'presence' }), /^topics must be an array/],
      [JSON.stringify({ ...open, topics: ['everything'] }), /^topics must be a list of/],
      [JSON.stringify({ ...open, since: { epoch: 'a' } }), /^since.seq must be an integer/],
      [JSON.stringify({ ...open, since: [] }), /^since must be an object/],
      [JSON.stringify({ ...set, data: [] }), /^data must be an object/],
      [JSON.stringify({ ...set, data: null }), /^data must be an object/],
      [JSON.stringify({ ...set, merge: 1 }), /^merge must be a boolean/],
      [JSON.stringify({ ...set, id: null }), /^id must be an integer/],
      [JSON.stringify(set).replace('{}', '{"__proto__":{"a":1}}'), /^data: __proto__/],
      [JSON.stringify(set).replace('{}', `{"a":${deep}}`), /^data: The message is nested deeper than 64\.$/],
      [JSON.stringify(set).replace('{}', keys), /^data: The message has more than 10000 keys\.$/],
      [JSON.stringify({ ...set, data: { a: 'x'.repeat(1024 * 1024) } }), /bytes/],
      [JSON.stringify({ type: 'setPresence', ref: 1, status: 'busy' }), /^status must be one of/],
      [JSON.stringify({ type: 'setPresence', ref: 1, data: 'x' }), /^data must be an object/],
      [JSON.stringify({ type: 'openEditor', ref: 1, channel: 1, editorId: 1 }), /^editorId must be a string/],
      [new Uint8Array(), /malformed/],
      [Uint8Array.of(1), /malformed/],
      [Uint8Array.of(1, 0), /malformed/],
      [Uint8Array.of(1, 0, 5, 1), /malformed/],
      [Uint8Array.of(1, 9, 0), /not part/],
      [Uint8Array.of(1, 4, 1), /malformed|not part/],
      [Uint8Array.of(1, 0, 0, 7), /not part/],
      [Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 255, 255, 255), /malformed/],
    ]
    const token = await tokenFor(tenant)
    for (const [frame, reason] of cases) {
      const client = await RealtimeClient.connect(server, token)
      await client.open()
      await client.openEditor()
      client.socket.send(frame)
      // A message after it does not count any more.
      client.send({ type: 'setLiveState', ref: 1, id: 2, liveStateDataId: 'late', data: {} })
      const label = typeof frame === 'string' ? frame.slice(0, 60) : Buffer.from(frame).toString('hex')
      expect(await client.closed, label).toEqual({
        code: closeCodes.badMessage,
        reason: expect.stringMatching(reason),
      })
    }
    expect(await bystander.set('fine', {})).toMatchObject({ type: 'done', position: { seq: 1 } })
    await eventually(() => view.data('fine')).toEqual({})
    expect([...view.states.keys()]).toEqual(['fine'])
    await eventually(() => view.present).toEqual({ bob: 'online' })
  })

  test('[R10] editors: changes come back to everyone, and are confirmed when they are stored', async () => {
    const tenant = await given.tenant(server)
    const [ada, stock] = [await connect(tenant), yjsClient(server, await tokenFor(tenant, 'bob'))]
    await eventually(() => stock.provider.synced).toBe(true)
    await ada.open('doc_1', { ref: 4 })
    expect(await ada.openEditor('note', { ref: 4, channel: 1 })).toMatchObject({ accessRole: 'editor' })
    // The server says what it knows, so that the client sends the rest.
    expect((await ada.takeFrame('syncStep1')).bytes).toEqual(Uint8Array.of(0))
    const doc = new Y.Doc()
    const updates: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => updates.push(update))
    doc.getText('content').insert(0, 'Hello')
    ada.sendFrame('syncStep2', Y.encodeStateAsUpdate(doc), 1, 10)
    expect(await ada.takeFrame('saved')).toEqual({ channel: 1, kind: 'saved', number: 10 })
    await eventually(() => stock.text.toJSON()).toBe('Hello')
    updates.length = 0
    for (const word of [' big', ' wide', ' world']) doc.getText('content').insert(5, word)
    for (const [index, update] of updates.entries()) ada.sendFrame('update', update, 1, 11 + index)
    await eventually(() => stock.text.toJSON()).toBe('Hello world wide big')
    await eventually(() => ada.frames.findLast(({ kind }) => kind === 'saved')?.number).toBe(13)
    stock.text.insert(0, 'Oh. ')
    await eventually(() => {
      for (const { kind, bytes } of ada.frames) if (kind === 'update' && bytes) Y.applyUpdate(doc, bytes)
      return doc.getText('content').toJSON()
    }).toBe('Oh. Hello world wide big')
    ada.frames.length = 0
    ada.sendFrame('syncStep1', Y.encodeStateVector(new Y.Doc()))
    const copy = new Y.Doc()
    Y.applyUpdate(copy, (await ada.takeFrame('syncStep2')).bytes as Uint8Array)
    expect(copy.getText('content').toJSON()).toBe('Oh. Hello world wide big')
  })

  test('[R10.6] editors: what is refused is told by its number; numbers increase', async () => {
    const tenant = await given.tenant(server)
    const [viewer, editor] = [await connect(tenant, 'vic', 'viewer'), await connect(tenant)]
    for (const client of [viewer, editor]) {
      await client.open()
      await client.openEditor()
    }
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'x')
    viewer.sendFrame('update', Y.encodeStateAsUpdate(doc), 1, 1)
    expect(await viewer.takeFrame('refused')).toEqual({
      channel: 1,
      kind: 'refused',
      number: 1,
      reason: 'The user may read this document, but not change it.',
    })
    editor.sendFrame('update', Y.encodeStateAsUpdate(doc), 1, 5)
    expect(await editor.takeFrame('saved')).toMatchObject({ number: 5 })
    expect(await viewer.takeFrame('update')).toMatchObject({ channel: 1 })
    editor.sendFrame('update', Y.encodeStateAsUpdate(doc), 1, 5)
    expect(await editor.closed).toMatchObject({ code: closeCodes.badMessage })
  })

  test('[R8.1] editors: an update that is malformed closes its editor and nothing else', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open()
    await client.openEditor('note', { channel: 1 })
    await client.openEditor('other', { channel: 2 })
    client.sendFrame('update', Uint8Array.of(1, 2, 3), 1, 1)
    expect(await client.take('editorClosed')).toMatchObject({ channel: 1, code: closeCodes.invalidUpdate })
    client.sendFrame('syncStep1', Uint8Array.of(9, 9), 2)
    expect(await client.take('editorClosed')).toMatchObject({ channel: 2, code: closeCodes.badMessage })
    expect(await client.set('a', {})).toMatchObject({ type: 'done' })
    await client.openEditor('note', { channel: 1 })
  })

  test('[R4.2] editors: what one says of its content counts when the editor is made', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open()
    client.send({
      type: 'openEditor',
      ref: 1,
      channel: 1,
      editorId: 'board',
      contentType: 'map',
      contentKey: 'shapes',
    })
    await client.take('editorOpened')
    const doc = new Y.Doc()
    doc.getMap('shapes').set('a', 1)
    client.sendFrame('update', Y.encodeStateAsUpdate(doc), 1, 1)
    await client.takeFrame('saved')
    const { data } = await tenant.client.crdt.get({ ...place, editorId: 'board' })
    expect(data).toMatchObject([{ id: 'board', data: { a: 1 } }])
    const row = await server.database.read
      .selectFrom('editors')
      .select(['type', 'content_key'])
      .where('api_key', '=', tenant.apiKey)
      .executeTakeFirst()
    expect(row).toEqual({ type: 'map', content_key: 'shapes' })
  })

  test('[R10.5] what was sent before a document or an editor is closed still counts', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    const docs = ['first', 'second'].map((word) => {
      const doc = new Y.Doc()
      doc.getText('content').insert(0, word)
      return Y.encodeStateAsUpdate(doc)
    })
    client.send({ type: 'open', ref: 1, ...place, topics: ['presence', 'liveState'] })
    client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: 'first' })
    client.sendFrame('update', docs[0] as Uint8Array, 1, 1)
    client.send({ type: 'closeEditor', channel: 1 })
    client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: 'second' })
    client.sendFrame('update', docs[1] as Uint8Array, 1, 1)
    client.send({ type: 'setLiveState', ref: 1, id: 1, liveStateDataId: 'a', data: { b: 1 } })
    client.send({ type: 'close', ref: 1 })
    client.send({ type: 'open', ref: 1, organizationId: 'org_1', documentId: 'doc_2', topics: [] })
    await client.take('done')
    const read = async () => (await tenant.client.crdt.get(place)).data.map(({ id, data }) => [id, data])
    await eventually(read).toEqual([
      ['first', 'first'],
      ['second', 'second'],
    ])
    // The first document may have been opened before it was closed. Only the second one speaks under the ref now.
    const isSecond = (message: object) => !('presence' in message)
    const spoken = () => client.messages.filter((message) => 'ref' in message)
    const last = () => spoken().findLast(({ type }) => type === 'opened')
    await eventually(() => last() !== undefined && isSecond(last() as object)).toBe(true)
    await client.settled()
    expect(spoken().at(-1)).toBe(last())
    const bob = await connect(tenant, 'bob')
    await eventually(async () => {
      const { presence } = await bob.open()
      bob.send({ type: 'close', ref: 1 })
      return presence?.map(({ userId }) => userId)
    }).toEqual(['bob'])
  })

  test('[R10.5] what was sent before the connection is closed still counts', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'last words')
    client.send({ type: 'open', ref: 1, ...place, topics: ['presence', 'liveState'] })
    client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: 'note' })
    client.sendFrame('update', Y.encodeStateAsUpdate(doc), 1, 1)
    client.send({ type: 'setLiveState', ref: 1, id: 1, liveStateDataId: 'a', data: { b: 1 } })
    await client.close()
    const read = async () => (await tenant.client.crdt.get(place)).data.map(({ data }) => data)
    await eventually(read).toEqual(['last words'])
    const bob = await connect(tenant, 'bob')
    await eventually(async () => {
      const { presence, liveStates } = await bob.open()
      bob.send({ type: 'close', ref: 1 })
      return [presence?.map(({ userId }) => userId), liveStates?.map(({ data }) => data)]
    }).toEqual([['bob'], [{ b: 1 }]])
  })

  test('[R10.7] a connection has at most 1,000 documents', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    const open = (ref: number) =>
      client.send({ type: 'open', ref, organizationId: 'org_1', documentId: `doc_${ref}`, topics: [] })
    for (let ref = 0; ref <= 1000; ref++) open(ref)
    expect(await client.take('closed')).toMatchObject({ ref: 1000, code: closeCodes.tooMany })
    client.send({ type: 'close', ref: 1 })
    open(1000)
    await client.take('opened', { ref: 1000 })
  })

  test('[R33] a connection has a document open once, and an editor once, and is told where', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open('doc_1', { ref: 7 })
    client.send({ type: 'open', ref: 8, ...place, topics: ['presence'] })
    expect(await client.take('error')).toEqual({
      type: 'error',
      ref: 8,
      status: 'ALREADY_EXISTS',
      message: 'The document is already open on this connection, under ref 7.',
    })
    client.send({ type: 'setPresence', ref: 8, data: {} })
    expect(await client.take('error')).toMatchObject({ ref: 8, status: 'NOT_FOUND' })
    await client.openEditor('note', { ref: 7, channel: 3 })
    client.send({ type: 'openEditor', ref: 7, channel: 4, editorId: 'note' })
    expect(await client.take('error')).toEqual({
      type: 'error',
      ref: 7,
      channel: 4,
      status: 'ALREADY_EXISTS',
      message: 'The editor is already open on this connection, under channel 3.',
    })
    // Another document may have an editor of that name, and another organization a document of that name.
    await client.open('doc_1', { ref: 8, organizationId: 'org_2' })
    await client.openEditor('note', { ref: 8, channel: 4 })
    client.send({ type: 'closeEditor', channel: 3 })
    await client.openEditor('note', { ref: 7, channel: 5 })
    client.send({ type: 'close', ref: 7 })
    await client.open('doc_1', { ref: 9 })
    await client.openEditor('note', { ref: 9, channel: 3 })
  })
})

describe('editors of one connection', () => {
  const server = useServer('sqlite')

  test('[R10.7] a connection has at most 1,000 editors', async () => {
    const tenant = await given.tenant(server)
    const client = await RealtimeClient.connect(server, await tokenFor(tenant))
    await client.open()
    const open = (channel: number) =>
      client.send({ type: 'openEditor', ref: 1, channel, editorId: `editor_${channel}` })
    for (let channel = 0; channel <= 1000; channel++) open(channel)
    expect(await client.take('editorClosed')).toMatchObject({ channel: 1000, code: closeCodes.tooMany })
    client.send({ type: 'closeEditor', channel: 1 })
    open(1000)
    await client.take('editorOpened', { channel: 1000 })
  })
})
