import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/clients/convergence.ts'
import { plenumConnection } from '../../support/clients/plenum-client.ts'
import { withProxiedPostgres } from '../../support/faults/postgres-faults.ts'
import * as given from '../../support/given.ts'
import { stores, type TestServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

/** The jobs of the server and its connections to the database need time on a busy machine. */
const waiting = { timeout: 60_000 }
const ref = { organizationId: 'org_1', documentId: 'doc_1' }

/** A document with threads of `grace`, each of which notifies `ada`, and the client of `ada`, who has opened the document. */
async function threadsOf(server: TestServer, tenant: given.Tenant, count: number) {
  const { client } = tenant
  await given.document(tenant)
  await client.users.add({ organizationId: 'org_1', users: [{ userId: 'ada' }, { userId: 'grace' }] })
  await client.commentAnnotations.add({
    ...ref,
    commentAnnotations: Array.from({ length: count }, () => ({
      commentData: [{ commentText: 'x', from: { userId: 'grace' }, triggerNotification: true }],
    })),
  })
  const notified = async () =>
    (await client.notifications.get({ organizationId: 'org_1', userId: 'ada' })).data
  await expect.poll(async () => (await notified()).length, waiting).toBe(count)
  const token = await tokenFor(tenant, 'ada')
  const connection = plenumConnection(client, token)
  const document = connection.document(ref.organizationId, ref.documentId)
  await eventually(() => document.status).toBe('connected')
  return {
    asAda: server.client({ token }),
    threads: document.threads,
    inbox: connection.inbox(ref.organizationId),
  }
}

describe.skipIf(!stores.includes('postgres'))('live lists and a database that is away', () => {
  test('[K17.6] [K18.4] threads and an inbox that are first used while the database is away show what REST has when it is back', async () => {
    const { server, tenant, proxy } = await withProxiedPostgres()
    const { asAda, threads, inbox } = await threadsOf(server, tenant, 52)
    const lists = [threads, inbox]
    const shown = () => [threads.threads.length, inbox.notifications.length]
    const cut = () => {
      proxy.refuse()
      proxy.cut()
    }
    cut()
    for (const list of lists) list.subscribe(() => {})
    await expect.poll(() => inbox.error?.status, waiting).toBe('UNAVAILABLE')
    expect(inbox.isLoading).toBe(false)
    proxy.restore()
    await expect.poll(shown, waiting).toEqual([50, 50])
    for (const list of lists)
      expect(list).toMatchObject({ error: undefined, isLoading: false, hasMore: true })

    cut()
    const loading = Promise.all(lists.map((list) => list.loadMore()))
    for (const list of lists) await expect.poll(() => list.error?.status, waiting).toBe('UNAVAILABLE')
    expect(shown()).toEqual([50, 50])
    proxy.restore()
    await loading
    expect(shown()).toEqual([52, 52])
    expect((await asAda.commentAnnotations.get({ ...ref, pageSize: 100 })).data).toHaveLength(52)
    for (const list of lists) expect(list).toMatchObject({ error: undefined, hasMore: false })
  })
})
