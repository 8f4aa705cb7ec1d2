import { afterEach, describe, expect, test } from 'vitest'
import { eventually, synced } from '../support/clients/convergence.ts'
import { closeClients } from '../support/clients/open-clients.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import { tokenFor } from '../support/access/user-tokens.ts'
import { undisturbedNow } from '../support/measures/processor-time.ts'
import { loseNextCommitAnswer, withProxiedPostgres } from '../support/faults/postgres-faults.ts'
import { RealtimeSocket } from '../support/clients/realtime-socket.ts'

afterEach(closeClients)

const document = { organizationId: 'org_1', documentId: 'doc_1' }
const editor = { ...document, editorId: 'note' }

/** Starts a server that can lose the answer to a commit: the commit reaches the database, but no answer returns. */
async function withLostAnswer() {
  const { proxy, server, tenant } = await withProxiedPostgres()
  return {
    server,
    tenant,
    async losesAnswer(write: () => Promise<unknown>): Promise<void> {
      loseNextCommitAnswer(proxy, 100)
      await expect(write()).rejects.toMatchObject({ status: 'UNAVAILABLE' })
    },
  }
}

describe('a committed operation whose answer from PostgreSQL is lost', () => {
  test('[R4.1] [O2.4] open editors receive a committed write whose answer is lost', async () => {
    const { server, tenant, losesAnswer } = await withLostAnswer()
    await tenant.client.crdt.add({ ...editor, type: 'text', contentKey: 'content', data: 'one' })
    const ada = yjsClient(server, await tokenFor(tenant))
    await eventually(() => ada.text.toString()).toBe('one')
    await losesAnswer(() => tenant.client.crdt.update({ ...editor, type: 'text', data: 'two' }))
    await eventually(() => ada.text.toString()).toBe('two')
  })

  test('[O2.4] [R9] open sessions of a disabled document are closed even if the answer to the commit is lost', async () => {
    const { server, tenant, losesAnswer } = await withLostAnswer()
    const ada = yjsClient(server, await tokenFor(tenant))
    const codes: (number | undefined)[] = []
    ada.provider.on('connection-close', (event) => codes.push(event?.code))
    await synced(ada)
    await losesAnswer(() =>
      tenant.client.documents.updateDisableState({
        organizationId: 'org_1',
        documentIds: ['doc_1'],
        disabled: true,
      }),
    )
    await eventually(() => codes).toContain(4403)
  })

  test('[B3] [R9] a revocation whose answer is lost holds within a second on the server that made it', async () => {
    const { server, tenant, losesAnswer } = await withLostAnswer()
    const ada = await RealtimeSocket.connect(server, await tokenFor(tenant))
    expect(await ada.open()).toMatchObject({ accessRole: 'editor' })
    const calledAt = undisturbedNow()
    await losesAnswer(() =>
      tenant.client.users.add({
        organizationId: 'org_1',
        documentId: 'doc_1',
        users: [{ userId: 'ada', accessRole: 'viewer' }],
      }),
    )
    expect(await ada.take('access')).toMatchObject({ accessRole: 'viewer' })
    // It takes 2 s until a commit without an answer can no longer take effect.
    expect(undisturbedNow() - calledAt).toBeLessThan(1_500)
  })

  test('[O2.4] [R9] open editors of a deleted document are closed even if the answer to the commit is lost, and the next open creates an empty document', async () => {
    const { server, tenant, losesAnswer } = await withLostAnswer()
    const token = await tokenFor(tenant)
    const ada = yjsClient(server, token)
    const codes: (number | undefined)[] = []
    ada.provider.on('connection-close', (event) => {
      codes.push(event?.code)
      ada.provider.shouldConnect = false
    })
    await synced(ada)
    ada.text.insert(0, 'old')
    await eventually(async () => (await tenant.client.crdt.get(editor)).data[0]?.data).toBe('old')
    await losesAnswer(() =>
      tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] }),
    )
    await eventually(() => codes).toEqual([4404])
    const bob = yjsClient(server, token)
    await synced(bob)
    expect(bob.text.toString()).toBe('')
    bob.text.insert(0, 'new')
    await eventually(async () => (await tenant.client.crdt.get(editor)).data[0]?.data).toBe('new')
  })

  test('[O2.4] [R20] subscribers receive a live state whose commit answer is lost', async () => {
    const { server, tenant, losesAnswer } = await withLostAnswer()
    const reader = await RealtimeSocket.connect(server, await tokenFor(tenant))
    await reader.open()
    const show = (page: number) =>
      tenant.client.liveState.broadcast({ ...document, liveStateDataId: 'slide', data: { page } })
    const shown = async () => (await reader.take('liveState')).states[0]?.data
    await show(1)
    expect(await shown()).toEqual({ page: 1 })
    await losesAnswer(() => show(2))
    expect(await shown()).toEqual({ page: 2 })
  })

  test('[O2.4] [R9] open sessions of a user learn of a membership from a sign-in whose commit answer is lost', async () => {
    const { proxy, server, tenant } = await withProxiedPostgres()
    const first = await RealtimeSocket.connect(server, await tokenFor(tenant, 'ada', { resources: [] }))
    expect(await first.open()).toMatchObject({ accessRole: 'editor' })
    const second = new RealtimeSocket(server)
    await second.connected()
    const token = await tokenFor(tenant, 'ada', { role: 'viewer' })
    loseNextCommitAnswer(proxy, 100)
    second.send({ type: 'auth', token })
    expect(await second.closed).toMatchObject({ code: 4503 })
    expect(await first.take('access')).toMatchObject({ accessRole: 'viewer' })
  })
})
