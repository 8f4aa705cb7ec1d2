import { vi } from 'vitest'
import { PermissionProvider } from '../../../src/access/provider/permission-provider.ts'
import { createStoredDocuments } from '../../../src/crdt/stored-documents.ts'
import { readWebhookData } from '../../../src/deliveries/webhooks/read-webhook-data.ts'
import type { WebhookData } from '../../../src/deliveries/webhooks/webhook-data.ts'
import type { AnnotationEvent } from '../../../src/events/consumer.ts'
import { storedWebhook } from '../../../src/events/webhook-event.ts'
import { inbox } from '../../../src/events/inbox/inbox.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log/log.ts'
import { createOutgoingPost } from '../../../src/platform/outgoing/outgoing-post.ts'
import * as apiKeys from '../../../src/store/api-keys.ts'
import type { TestServer } from '../../support/harness.ts'
import { createDocumentThreads } from '../../support/updates/document-work.ts'
import * as inboxScene from '../inbox/scene.ts'

export const { annotationId, documentId, organizationId, ref } = inboxScene

/** What a job that sends webhooks has. */
export function webhookDeps({ database, secrets }: TestServer) {
  const clock = systemClock
  const log = createLog('debug', { write: () => {} })
  const post = createOutgoingPost({ clock, privateAddresses: 'allowed' })
  return {
    database,
    clock,
    permissionProvider: new PermissionProvider({ database, secrets, post, clock, log }),
    storedDocuments: createStoredDocuments(createDocumentThreads({})),
  }
}

/** The scene of inboxes, with the events that consumers get. */
export async function scene(server: TestServer, members: readonly string[] = ['ada', 'grace']) {
  const recorded: AnnotationEvent[] = []
  const { onRecorded } = inbox
  vi.spyOn(inbox, 'onRecorded').mockImplementation((scope, events) => {
    recorded.push(...events)
    return onRecorded(scope, events)
  })
  const tenant = await inboxScene.scene(server, members)
  const deps = webhookDeps(server)
  /** The event as it is after it was stored in a job. */
  const eventOf = (name: string): AnnotationEvent => {
    const event = recorded.findLast((one) => one.name === name)
    if (!event) throw new Error(`${name} was not recorded.`)
    return JSON.parse(JSON.stringify(event))
  }
  const read = async (event: AnnotationEvent): Promise<WebhookData> => {
    const { key } = (await apiKeys.find(server.database.read, tenant.apiKey)) as { key: apiKeys.ApiKey }
    const { event: stored } = storedWebhook({ ...event, webhookId: 'msg_1' })
    return readWebhookData(deps, key, stored, { findsDenied: true })
  }
  return { ...tenant, eventOf, read, dataOf: (name: string) => read(eventOf(name)) }
}
