import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { closeCodes } from '@plenum/protocol/realtime'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { declareRoot, storedRoot } from '../../support/data/editors.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }

describe.each(stores)('editing at /realtime on %s', (store) => {
  const server = useServer(store)
  const connect = async (tenant: given.Tenant, userId = 'ada', role?: 'viewer' | 'editor') =>
    RealtimeSocket.connect(server, await tokenFor(tenant, userId, { role }))

  test('[R10] an editor update is broadcast to all clients and acknowledged when it is stored', async () => {
    const tenant = await given.tenant(server)
    const [ada, stock] = [await connect(tenant), yjsClient(server, await tokenFor(tenant, 'bob'))]
    await eventually(() => stock.provider.synced).toBe(true)
    await ada.open('doc_1', { ref: 4 })
    expect(await ada.openEditor('note', { ref: 4, channel: 1 })).toMatchObject({ accessRole: 'editor' })
    // The server sends its state vector, so the client sends the missing updates.
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

  test('[R10.6] a refused editor update is reported by its number, and numbers must increase', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
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

  test('[R8.1] a malformed update or state vector closes its editor and nothing else', async () => {
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

  test('[R4.2] the declared content type and key apply when the editor is created', async () => {
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
    const { data } = await tenant.client.crdt.get({ ...documentRef, editorId: 'board' })
    expect(data).toMatchObject([{ id: 'board', data: { a: 1 } }])
    const row = await server.database.read
      .selectFrom('editors')
      .select(['type', 'content_key'])
      .where('api_key', '=', tenant.apiKey)
      .executeTakeFirst()
    expect(row).toEqual({ type: 'map', content_key: 'shapes' })
  })

  test('[R4.2] an open editor uses a declaration that another server has stored, and an older declaration replaces it', async () => {
    const tenant = await given.tenant(server)
    const ref = { ...documentRef, editorId: 'board' }
    const declare = async (contentType: 'map' | 'text', contentKey: string) => {
      const client = await connect(tenant)
      await client.open()
      client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: 'board', contentType, contentKey })
      await client.take('editorOpened')
      return client
    }
    const stored = () => storedRoot(server, tenant, ref)
    const ada = await declare('map', 'shapes')
    const doc = new Y.Doc()
    doc.getMap('other').set('a', 1)
    ada.sendFrame('update', Y.encodeStateAsUpdate(doc), 1, 1)
    await ada.takeFrame('saved')
    const after = { type: 'text', contentKey: 'title' } as const
    await declareRoot(server, tenant, ref, after)
    await declare('text', 'title')
    expect(await stored()).toMatchObject(after)
    // A client gets `editorOpened` before its declaration is compared with the stored one.
    const declareAgain = async () => {
      await declare('map', 'shapes')
      return stored()
    }
    await eventually(declareAgain).toMatchObject({ type: 'map', contentKey: 'shapes' })
  })
})
