import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, synced } from '../support/clients/convergence.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import * as given from '../support/given.ts'
import { metric } from '../support/measures/metrics-page.ts'
import { startTwoServers } from '../support/servers/two-servers.ts'

/** Keeps other transactions from writing to the editors of this database, until the returned function is called. */
async function lockEditors(connectionString: string | undefined): Promise<() => Promise<unknown>> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin; select 1 from editors for update')
  return () => client.query('rollback')
}

test('[B3.2] a server that was stopped for more than a minute stores nothing of a user who has lost access meanwhile', async () => {
  const [a, b] = await startTwoServers('no link', { clock: { offsetMs: 0, stoppedMs: 0 } })
  const tenant = await given.tenant(a)
  await given.document(tenant)
  const ref = { organizationId: 'org_1', documentId: 'doc_1' }
  await tenant.client.documents.updateAccess({
    organizationId: 'org_1',
    documentIds: ['doc_1'],
    accessType: 'restricted',
  })
  const resource = { type: 'document' as const, id: 'doc_1', organizationId: 'org_1' }
  const { data } = await tenant.client.auth.generateToken({
    userId: 'ada',
    userProperties: { name: 'Ada', email: 'ada@example.com' },
    permissions: { resources: [{ ...resource, accessRole: 'editor' }] },
  })
  const ada = yjsClient(b, data.token)
  await synced(ada)
  ada.text.insert(0, 'before')
  const stored = async () => (await tenant.client.crdt.get(ref)).data.map((one) => one.data)
  await eventually(stored).toEqual(['before'])

  const unlock = await lockEditors(b.data.databaseUrl)
  ada.text.insert(0, 'after ')
  await eventually(() => metric(b, 'plenum_editors_waiting')).toBe(1)
  b.clock.stoppedMs = 61_000
  await tenant.client.permissions.remove({ userId: 'ada', permissions: { resources: [resource] } })
  await eventually(() => ada.provider.wsconnected).toBe(false)
  // It may have noticed the stop before the removal was stored. Then it learns of the removal as always, within a second.
  await b.server.catchUp()
  await unlock()
  await eventually(() => metric(b, 'plenum_editors_waiting')).toBe(0)
  expect(await stored()).toEqual(['before'])
})
