import type { AnnotationEvent, EditorEvent } from './consumer.ts'

/** What identifies the webhook about an event. */
interface WebhookId {
  /** The same for every endpoint and every attempt. */
  webhookId: string
}

/** An event about an annotation: which one, and what it changed. The rest is read at each attempt. */
export interface ThreadEvent
  extends
    WebhookId,
    Pick<
      AnnotationEvent,
      'name' | 'organizationId' | 'documentId' | 'annotationId' | 'commentId' | 'actorId' | 'platform'
    > {
  payload: {
    annotation: { annotationId: string; annotationNumber: number; createdAt?: number }
    changes?: { from?: unknown; to?: unknown }
    icon?: string
  }
}

/** An event about the content of an editor, as it was recorded. */
export type ContentEvent = WebhookId & EditorEvent

export type WebhookEvent = ThreadEvent | ContentEvent

/** An event as it was recorded. */
type RecordedEvent =
  | (Omit<ThreadEvent, 'payload'> & { payload: object; annotation?: AnnotationEvent['annotation'] })
  | ContentEvent

/**
 * What is stored of a webhook: the event that it is about, without any content. Each attempt reads what the webhook says, so
 * that it shows nothing that was deleted, erased or changed meanwhile.
 */
export interface StoredWebhook {
  event: WebhookEvent
}

export const storedWebhook = (event: RecordedEvent): StoredWebhook => ({
  event: 'editorId' in event ? event : withoutContent(event),
})

/** Of what the event changed, these are small, and are shown as they were then. */
const namesOfShownChanges: ReadonlySet<string> = new Set([
  'comment_annotation.assign',
  'comment_annotation.status_change',
  'comment_annotation.priority_change',
])

export const showsChanges = (name: string): boolean => namesOfShownChanges.has(name)

/** The recorded event has the whole annotation and, in its payload, the comment. */
function withoutContent(event: Extract<RecordedEvent, { annotationId: string }>): ThreadEvent {
  const { name, webhookId, organizationId, documentId, annotationId, commentId, actorId, platform } = event
  const { annotation, changes, icon } = event.payload as ThreadEvent['payload']
  const { annotationNumber, createdAt } = event.annotation ?? annotation
  return {
    name,
    webhookId,
    organizationId,
    documentId,
    annotationId,
    commentId,
    actorId,
    platform,
    payload: {
      annotation: { annotationId, annotationNumber, ...(createdAt !== undefined && { createdAt }) },
      ...(changes && showsChanges(name) && { changes }),
      ...(icon !== undefined && { icon }),
    },
  }
}
