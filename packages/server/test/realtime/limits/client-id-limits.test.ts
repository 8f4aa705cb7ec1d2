import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { anyStore, stores, type TestServer, useServer } from '../../support/harness.ts'
import { appendUpdates } from '../../support/data/editors.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { rawClient } from '../../support/clients/raw-clients.ts'
import { text, update } from '../../support/updates/scenes.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
const typed = (client: number, clock = 0) =>
  update({ structs: [{ client, clock, structs: [{ parent: 'content', content: text('x') }] }] })

/** Creates an editor and gives each user this number of Yjs client ids. */
async function givenIds(
  server: TestServer,
  tenant: given.Tenant,
  counts: Record<string, number>,
): Promise<void> {
  const owners: [number, string][] = []
  for (const [userId, count] of Object.entries(counts)) {
    for (let i = 0; i < count; i++) owners.push([1_000_000 + owners.length, userId])
  }
  const first = update({ structs: [{ client: 7, clock: 0, structs: [{ gc: 1 }] }] })
  const create = { type: 'text', contentKey: 'content' } as const
  for (let at = 0; at < owners.length; at += 10_000) {
    const written = { userId: 'ada', create, owners: owners.slice(at, at + 10_000), now: 1_000 }
    await appendUpdates(server, tenant, editorRef, [first], written)
  }
}

describe('the limit of Yjs client ids in an editor', () => {
  const server = useServer(anyStore)

  test('[S7] an editor with 100,000 Yjs client ids refuses new ids and accepts writes of known ids and backends', async () => {
    const tenant = await given.tenant(server)
    const teams = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`u${i}`, 1_000]))
    await givenIds(server, tenant, { ...teams, u99: 999 })
    const connect = async (userId: string) => {
      const client = rawClient(server, 'realtime', { ...editorRef, token: await tokenFor(tenant, userId) })
      await client.opened()
      return client
    }
    const ada = await connect('ada')
    expect(await ada.update(typed(1))).toBe('saved')
    const bob = await connect('bob')
    expect(await bob.update(typed(2))).toBe('refused')
    expect(bob.refusalTexts[0]).toContain('too many Yjs client ids')
    // This update depends on the refused one.
    expect(await bob.update(typed(2, 1))).toBe('refused')
    expect(await ada.update(typed(1, 1))).toBe('saved')
    expect(await bob.update(update({ deletes: [{ client: 1, ranges: [[0, 1]] }] }))).toBe('saved')
    expect(bob.ending).toBeUndefined()
    await tenant.client.crdt.update({ ...editorRef, type: 'text', data: 'from a backend' })
    expect((await tenant.client.crdt.get(editorRef)).data[0]?.data).toBe('from a backend')
  }, 60_000)
})

describe.each(stores)('the limit of Yjs client ids of a user on %s', (store) => {
  const server = useServer(store)

  test('[S7.1] the Yjs client ids of one user do not use up those of other users', async () => {
    const tenant = await given.tenant(server)
    await givenIds(server, tenant, { mallory: 33_333 })
    const target = { ...editorRef, token: await tokenFor(tenant, 'mallory') }
    const mallory = rawClient(server, 'realtime', target)
    await mallory.opened()
    expect(await mallory.update(typed(1))).toBe('refused')
    expect(await mallory.update(typed(1_000_000))).toBe('saved')
    const ada = rawClient(server, 'realtime', { ...target, token: await tokenFor(tenant, 'ada') })
    expect(await ada.update(typed(2))).toBe('saved')
  }, 60_000)
})
