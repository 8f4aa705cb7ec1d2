import type { Event } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import { tenantWith } from '../../../test/rest/webhooks/editor-scene.ts'
import { webhookDeps } from '../../../test/rest/webhooks/scene.ts'
import { eventually } from '../../../test/support/clients/convergence.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import type { EditorEvent } from '../../events/consumer.ts'
import * as apiKeys from '../../store/api-keys.ts'
import { readWebhookData } from './read-webhook-data.ts'

const editor = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }

/** As a consumer gets it. */
const recorded = ({ actor, payload }: Event): EditorEvent => ({
  name: 'crdt.update_data',
  ...editor,
  editorId: (payload as { crdtData: { id: string } }).crdtData.id,
  platform: actor ? 'sdk' : 'rest',
  actorId: actor?.userId,
  notifies: true,
  payload,
})

describe.each(stores)('webhooks about changed editors on %s', (store) => {
  const server = useServer(store, { jobPollMs: 20 })
  const step = (ms: number) => void (server.clock.offsetMs += ms)

  test('[24.2.3] the webhook has the content as Get CRDT Data returns it', async () => {
    const tenant = await tenantWith(server, true)
    const { client, events } = tenant
    await client.crdt.add({ ...editor, data: { a: [1, 'x'] }, type: 'map' })
    step(5_000)
    await eventually(events).toHaveLength(1)
    const [event] = (await events()) as [Event]
    const deps = webhookDeps(server)
    const { key } = (await apiKeys.find(server.database.read, tenant.apiKey)) as { key: apiKeys.ApiKey }
    const read = () =>
      readWebhookData(deps, key, { ...recorded(event), webhookId: 'msg_1' }, { findsDenied: true })
    const data = await read()
    expect(data).toMatchObject({ event: 'crdt.update_data', platform: 'rest', accessDeniedUsers: [] })
    expect(data).not.toHaveProperty('actionUser')
    expect([data.crdtData]).toEqual((await client.crdt.get(editor)).data)

    await client.crdt.update({ ...editor, data: { long: 'é'.repeat(140_000) }, type: 'map' })
    const large = await read()
    expect(large.crdtData).toMatchObject({ id: 'note', lastUpdatedBy: 'rest-api', isDataOmitted: true })
    expect(large.crdtData).not.toHaveProperty('data')
    await client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    expect((await read()).crdtData).toEqual({
      ...(event.payload as { crdtData: object }).crdtData,
      isDataOmitted: true,
    })
  })
})
