import type { Event } from '@plenum/protocol'
import * as given from '../../support/given.ts'
import type { TestServer } from '../../support/harness.ts'

/** A tenant with a document, whose webhook has this trigger. */
export async function tenantWith(server: TestServer, isOn: boolean) {
  const owner = await given.tenant(server)
  const { data } = await owner.client.apiKeys.create({
    ownerEmail: 'owner@example.com',
    type: 'testing',
    useWebhookService: true,
    webhookServiceConfig: { triggers: { 'crdt.update_data': isOn } },
  })
  const tenant = await given.keyOf(server, owner, data.apiKey)
  await given.document(tenant)
  const { client, apiKey } = tenant
  const events = async (): Promise<Event[]> =>
    (await client.events.get({ names: ['crdt.update_data'] })).data.events
  /** The jobs that announce changes. Another one then finds the webhooks that are called. */
  const waiting = () =>
    server.database.read
      .selectFrom('jobs')
      .selectAll()
      .where('api_key', '=', apiKey)
      .where('kind', '=', 'crdt.changed')
      .execute()
  return { ...tenant, events, waiting }
}
