import {
  type ContentEvent,
  showsChanges,
  type StoredWebhook,
  type ThreadEvent,
  type WebhookEvent,
} from '../../events/webhook-event.ts'
import type { WebhookData } from './webhook-data.ts'

/** The event of a stored webhook. Earlier versions stored what it says. */
export const eventOf = (stored: StoredWebhook | WebhookData): WebhookEvent =>
  isData(stored) ? eventOfData(stored) : stored.event

const isData = (stored: StoredWebhook | WebhookData): stored is WebhookData =>
  typeof stored.event === 'string'

function eventOfData(data: WebhookData): ThreadEvent | ContentEvent {
  const { event: name, webhookId, platform, metadata, actionUser, commentAnnotation, crdtData } = data
  const { organizationId, documentId } = metadata
  const common = { webhookId, platform, organizationId, documentId, actorId: actionUser?.userId }
  if (crdtData) {
    const event = { name: 'crdt.update_data', editorId: crdtData.id, notifies: true } as const
    return { ...common, ...event, payload: { crdtData: { ...crdtData, data: undefined } } }
  }
  const { annotationId = '', annotationNumber = 0, createdAt } = commentAnnotation ?? {}
  const { oldStatus, newStatus, newPriority, assigned, reaction, targetComment } = data
  const to = newStatus ?? newPriority ?? assigned?.userId ?? null
  return {
    ...common,
    name,
    annotationId,
    commentId: targetComment?.commentId,
    payload: {
      annotation: { annotationId, annotationNumber, ...(typeof createdAt === 'number' && { createdAt }) },
      ...(showsChanges(name) && { changes: { from: oldStatus ?? null, to } }),
      ...(reaction && { icon: reaction.icon }),
    },
  }
}
