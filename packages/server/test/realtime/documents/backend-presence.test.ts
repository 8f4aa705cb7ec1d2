import { describe, expect, test } from 'vitest'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { DocumentView, RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }

describe.each(stores)('presence that a backend sets on %s', (store) => {
  const server = useServer(store)

  test('[15.1.2] clients get the color, the picture and the data that a backend sent for a user, instead of those of the profile and of the client', async () => {
    const tenant = await given.tenant(server)
    const ada = await RealtimeSocket.connect(server, await tokenFor(tenant, 'ada'))
    await ada.open()
    ada.send({ type: 'setPresence', ref: 1, data: { cursor: 1 } })
    const backend = new RealtimeSocket(server, { headers: tenant.headers })
    await backend.take('ready')
    const view = new DocumentView(backend)
    await backend.open()
    await eventually(() => view.users.get('ada')?.data).toEqual({ cursor: 1 })
    const photoUrl = 'https://example.com/agent.png'
    const users = [
      { userId: 'agent', name: 'Agent', color: 'teal', photoUrl, data: { task: 'review' } },
      { userId: 'ada', color: 'red', data: { cursor: 2 } },
    ]
    await tenant.client.presence.add({ ...documentRef, users })
    await eventually(() => view.users.get('agent')).toMatchObject({
      color: 'teal',
      photoUrl,
      data: { task: 'review' },
      source: 'rest',
    })
    await eventually(() => view.users.get('ada')).toMatchObject({ color: 'red', data: { cursor: 2 } })
    expect(view.users.size).toBe(2)
  })
})
