import { beforeAll, describe, expect, test } from 'vitest'
import { expectShortIterations, type IterationWork } from '../../support/measures/loop-work.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const organizationId = 'o1'
const count = 72
/** Almost the maximum data of one item. */
const fields = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`k${index}`, 'x'.repeat(1_000)]))
const names = Array.from({ length: 80 }, (_, index) => ({
  userId: `named${index}`,
  email: `${index}@example.com`,
}))
const batches = Array.from({ length: count / 6 }, (_, at) =>
  Array.from({ length: 6 }, (_, i) => `i${at * 6 + i}`),
)

describe.each(stores)('lists of items with large data on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  let tenant: given.Tenant

  beforeAll(async () => {
    tenant = await given.tenant(server)
    const { client } = tenant
    await client.organizations.add({ organizations: [{ organizationId, ...fields }] })
    for (const ids of batches) {
      await client.organizations.add({ organizations: ids.map((id) => ({ organizationId: id, ...fields })) })
      await client.users.add({ organizationId, users: ids.map((userId) => ({ userId, ...fields })) })
      await client.documents.add({
        organizationId,
        documents: ids.map((documentId) => ({ documentId, ...fields })),
      })
    }
    for (let index = 0; index < count / 2; index++) {
      await client.notifications.add({
        organizationId,
        documentId: 'i0',
        actionUser: { userId: 'u1' },
        displayHeadlineMessageTemplate: 'x',
        displayBodyMessage: 'x',
        notificationSourceData: fields,
        notifyAll: false,
        notifyUsers: names,
      })
    }
  }, 240_000)

  /** The server sends PostgreSQL two long queries at a time, and both answers may arrive in one iteration. */
  const answersTogether = store === 'postgres' ? 2 : 1
  const all = { pageSize: 1_000 }
  const ids = Array.from({ length: 30 }, (_, index) => `i${index}`)
  const lists: [name: string, path: string, input: object, limits?: Partial<IterationWork>][] = [
    ['a page of organizations', '/v2/organizations/get', all],
    ['a page of documents', '/v2/organizations/documents/get', { organizationId, ...all }],
    ['documents by their ids', '/v2/organizations/documents/get', { organizationId, documentIds: ids }],
    ['all documents under v1', '/v1/organizations/documents/get', { organizationId }],
    ['a page of users', '/v2/users/get', { organizationId, ...all }],
    [
      'a page of notifications',
      '/v2/notifications/get',
      { organizationId, documentId: 'i0', ...all },
      // One statement reads the short rows of the named recipients of 32 notifications.
      { rows: answersTogether * (32 * names.length + 100) },
    ],
  ]

  test.each(lists)(
    '[S2] [S5.2] three concurrent calls that read %s do not block the event loop',
    async (_, path, data, limits = {}) => {
      await expectShortIterations(
        async () => {
          const answers = Array.from({ length: 3 }, async () => {
            const response = await fetch(`${server.url}${path}`, {
              method: 'POST',
              headers: { 'content-type': 'application/json', ...tenant.headers },
              body: JSON.stringify({ data }),
            })
            // The client runs in the same process, so it only counts the bytes.
            let bytes = 0
            for await (const chunk of response.body ?? []) bytes += chunk.length
            return bytes
          })
          for (const bytes of await Promise.all(answers)) expect(bytes).toBeGreaterThan(100_000)
        },
        { rowBytes: answersTogether * 1.25 * 1024 * 1024, ...limits },
      )
    },
  )

  test('[S2] updating 72 items with large data, or moving 30 documents with large data, does not block the event loop', async () => {
    const { client } = tenant
    const ids = batches.flat()
    const updates = [
      () =>
        client.organizations.update({
          organizations: ids.map((id) => ({ organizationId: id, x: Math.random() })),
        }),
      () =>
        client.documents.update({
          organizationId,
          documents: ids.map((documentId) => ({ documentId, x: Math.random() })),
        }),
      () =>
        client.users.update({ organizationId, users: ids.map((userId) => ({ userId, x: Math.random() })) }),
      () => client.documents.move({ organizationId, documentIds: ids.slice(0, 30), folderId: 'root' }),
    ]
    for (const update of updates) await expectShortIterations(update)
  })
})
