import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }

describe('closing at /realtime', () => {
  const server = useServer(anyStore)
  const connect = async (tenant: given.Tenant, userId = 'ada') =>
    RealtimeSocket.connect(server, await tokenFor(tenant, userId))

  test('[R10.5] messages sent before a document or an editor is closed take effect', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    const docs = ['first', 'second'].map((word) => {
      const doc = new Y.Doc()
      doc.getText('content').insert(0, word)
      return Y.encodeStateAsUpdate(doc)
    })
    client.send({ type: 'open', ref: 1, ...documentRef, topics: ['presence', 'liveState'] })
    client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: 'first' })
    client.sendFrame('update', docs[0] as Uint8Array, 1, 1)
    client.send({ type: 'closeEditor', channel: 1 })
    client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: 'second' })
    client.sendFrame('update', docs[1] as Uint8Array, 1, 1)
    client.send({ type: 'setLiveState', ref: 1, id: 1, liveStateDataId: 'a', data: { b: 1 } })
    client.send({ type: 'close', ref: 1 })
    client.send({ type: 'open', ref: 1, organizationId: 'org_1', documentId: 'doc_2', topics: [] })
    await client.take('done')
    const read = async () =>
      (await tenant.client.crdt.get(documentRef)).data.map(({ id, data }) => [id, data])
    await eventually(read).toEqual([
      ['first', 'first'],
      ['second', 'second'],
    ])
    // The first document may have been opened before it was closed. Now only the second one uses the ref.
    const isSecond = (message: object) => !('presence' in message)
    const messagesWithRef = () => client.messages.filter((message) => 'ref' in message)
    const last = () => messagesWithRef().findLast(({ type }) => type === 'opened')
    await eventually(() => last() !== undefined && isSecond(last() as object)).toBe(true)
    await client.settled()
    expect(messagesWithRef().at(-1)).toBe(last())
    const bob = await connect(tenant, 'bob')
    await eventually(async () => {
      const { presence } = await bob.open()
      bob.send({ type: 'close', ref: 1 })
      return presence?.map(({ userId }) => userId)
    }).toEqual(['bob'])
  })

  test('[R10.5] messages sent before the connection is closed take effect', async () => {
    const tenant = await given.tenant(server)
    const client = await connect(tenant)
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'last words')
    client.send({ type: 'open', ref: 1, ...documentRef, topics: ['presence', 'liveState'] })
    client.send({ type: 'openEditor', ref: 1, channel: 1, editorId: 'note' })
    client.sendFrame('update', Y.encodeStateAsUpdate(doc), 1, 1)
    client.send({ type: 'setLiveState', ref: 1, id: 1, liveStateDataId: 'a', data: { b: 1 } })
    await client.close()
    const read = async () => (await tenant.client.crdt.get(documentRef)).data.map(({ data }) => data)
    await eventually(read).toEqual(['last words'])
    const bob = await connect(tenant, 'bob')
    await eventually(async () => {
      const { presence, liveStates } = await bob.open()
      bob.send({ type: 'close', ref: 1 })
      return [presence?.map(({ userId }) => userId), liveStates?.map(({ data }) => data)]
    }).toEqual([['bob'], [{ b: 1 }]])
  })
})
