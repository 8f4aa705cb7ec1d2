import { describe, expect, test } from 'vitest'
import * as Y from 'yjs'
import { expectShortIterations } from '../../support/measures/loop-work.ts'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { rawClient } from '../../support/clients/raw-clients.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }

/** Encodes a state vector with that number of Yjs client ids that the editor does not contain. */
const vectorOf = (clients: number) =>
  Y.encodeStateVector(new Map(Array.from({ length: clients }, (_, client) => [client + 1, 1])))

describe('large state vectors', () => {
  const server = useServer(anyStore, { isOwn: true })
  const viewers = async (count: number) => {
    const tenant = await given.tenant(server)
    await tenant.client.crdt.add({ ...editorRef, type: 'text', data: 'x'.repeat(300_000) })
    const token = await tokenFor(tenant, 'eve', { role: 'viewer' })
    const clients = Array.from({ length: count }, () => rawClient(server, 'yjs', { ...editorRef, token }))
    for (const client of clients) await client.read()
    return clients
  }

  test('[S7.2] a client whose state vector has more than 101,000 Yjs client ids is closed with 4400', async () => {
    const [client] = await viewers(1)
    client?.socket.send(client.encode('syncStep1', vectorOf(101_001), 1))
    expect(await client?.ended).toEqual({ code: 4400, reason: 'A state vector has at most 101000 clients.' })
  })

  test('[S2] ten viewers with state vectors of 100,000 Yjs client ids do not block the event loop', async () => {
    const clients = await viewers(10)
    const vector = vectorOf(100_000)
    // One answer at a time: for each, the document is read once.
    await expectShortIterations(
      async () => {
        for (const client of clients) client.socket.send(client.encode('syncStep1', vector, 1))
        await Promise.all(clients.map((client) => client.read()))
      },
      { items: 1 },
    )
  })
})
