import { describe, expect, test } from 'vitest'
import { closeCodes } from '@plenum/protocol/realtime'
import * as given from '../../support/given.ts'
import { anyStore, stores, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }

describe.each(stores)('opening documents at /realtime on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const connect = async (tenant: given.Tenant) => RealtimeSocket.connect(server, await tokenFor(tenant))

  test('[R10] a client that lists a topic twice gets each change once', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open('doc_1', { topics: ['liveState', 'presence', 'liveState'] })
    await client.set('a', {})
    await client.take('liveState')
    await client.settled()
    expect(client.messages.filter(({ type }) => type === 'liveState')).toEqual([])
  })

  test('[R10.9] a message with fields that are not declared is handled as if it had none', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    const extra = { userId: 'somebody else', more: [{ a: 1 }] }
    const open = { type: 'open', ref: 1, ...documentRef, topics: ['liveState'], ...extra }
    client.socket.send(JSON.stringify({ ...open, since: { epoch: 'other', seq: 1, ...extra } }))
    expect(await client.take('opened')).toMatchObject({ ref: 1, reset: true })
    // Large enough for a thread.
    const data = { text: 'x'.repeat(100_000) }
    const set = { type: 'setLiveState', ref: 1, id: 1, liveStateDataId: 'a', data, ...extra }
    client.socket.send(JSON.stringify({ ...set, filling: 'x'.repeat(30_000) }))
    expect(await client.take('done')).toMatchObject({ id: 1 })
    const { states } = await client.take('liveState')
    expect(states).toMatchObject([{ liveStateDataId: 'a', data, updatedBy: { userId: 'ada' } }])
  })

  test('[R10.3] a client that may not open a document gets the reason, and its other documents continue', async () => {
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

  test('[R10.3] a changed role is sent to the client, and disabling the document closes it', async () => {
    const tenant = await given.tenant(server)
    const { client: backend } = tenant
    const client = await RealtimeSocket.connect(server, await tokenFor(tenant, 'ada', { resources: [] }))
    await given.users(tenant, ['ada'], documentRef)
    expect(await client.open()).toMatchObject({ accessRole: 'editor' })
    await client.openEditor()
    await backend.users.update({ ...documentRef, users: [{ userId: 'ada', accessRole: 'viewer' }] })
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

  test('[R10.3] [R21] a deleted document is closed for its clients, and has a new epoch when it is created again', async () => {
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

  test('[R33] opening a document or an editor twice on a connection is refused with its ref or channel', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    await client.open('doc_1', { ref: 7 })
    client.send({ type: 'open', ref: 8, ...documentRef, topics: ['presence'] })
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
    // Another document may have an editor with the same id, and another organization a document with the same id.
    await client.open('doc_1', { ref: 8, organizationId: 'org_2' })
    await client.openEditor('note', { ref: 8, channel: 4 })
    client.send({ type: 'closeEditor', channel: 3 })
    await client.openEditor('note', { ref: 7, channel: 5 })
    client.send({ type: 'close', ref: 7 })
    await client.open('doc_1', { ref: 9 })
    await client.openEditor('note', { ref: 9, channel: 3 })
  })
})

describe('the limits of a connection', () => {
  const server = useServer(anyStore)

  test('[R10.7] a connection has at most 1,000 documents', async () => {
    const tenant = await given.tenant(server)
    const client = await RealtimeSocket.connect(server, await tokenFor(tenant))
    const open = (ref: number) =>
      client.send({ type: 'open', ref, organizationId: 'org_1', documentId: `doc_${ref}`, topics: [] })
    for (let ref = 0; ref <= 1000; ref++) open(ref)
    expect(await client.take('closed')).toMatchObject({ ref: 1000, code: closeCodes.tooMany })
    client.send({ type: 'close', ref: 1 })
    open(1000)
    await client.take('opened', { ref: 1000 })
  })

  test('[R10.7] a connection has at most 1,000 editors', async () => {
    const tenant = await given.tenant(server)
    const client = await RealtimeSocket.connect(server, await tokenFor(tenant))
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
