import type { Input, Operations } from '@plenum/protocol'
import * as given from '../../support/given.ts'
import type { TestServer } from '../../support/harness.ts'

export const organizationId = 'org_1'
type Add = Operations['activities']['add']
type Sent = Input<Add>['activities'][number]

/** Creates a tenant whose activity log is on. Its activities are not immutable. */
export async function tenantWithLog(server: TestServer, { immutable = false } = {}) {
  const tenant = await given.tenant(server)
  await tenant.client.activityConfig.update({ activityServiceConfig: { isEnabled: true, immutable } })
  return tenant
}

export const setImmutable = ({ client }: given.Tenant, immutable: boolean) =>
  client.activityConfig.update({ activityServiceConfig: { immutable } })

export const activity = (fields: Partial<Sent> = {}): Sent => ({
  featureType: 'custom',
  actionType: 'task.finish',
  actionUser: { userId: 'ada' },
  targetEntityId: 'task',
  ...fields,
})

/** Adds activities to `doc_1`, or to another document. Returns their ids. */
export async function add(
  { client }: given.Tenant,
  activities: Partial<Sent>[],
  place: Partial<Input<Add>> = {},
): Promise<string[]> {
  const { data } = await client.activities.add({
    organizationId,
    documentId: 'doc_1',
    activities: activities.map(activity),
    ...place,
  })
  return data.ids
}

/** The ids of the activities that match the filter, newest first. */
export async function idsOf(
  { client }: given.Tenant,
  filter: Partial<Input<Operations['activities']['get']>> = {},
): Promise<string[]> {
  return (await client.activities.get({ organizationId, ...filter })).data.map(({ id }) => id)
}
