import type {
  Comment,
  CommentAnnotation,
  CrdtData,
  EventName,
  NotificationPreferences,
  Priority,
  Status,
  User,
  Visibility,
} from '@plenum/protocol'
import type { AnnotationEvent, EditorEvent, Platform } from '../../events/consumer.ts'

/** What identifies the webhook about an event. */
interface WebhookId {
  /** The same for every endpoint and every attempt. */
  webhookId: string
}

/** An event about an annotation, as it was recorded. */
export type ThreadEvent = WebhookId &
  Pick<
    AnnotationEvent,
    | 'name'
    | 'organizationId'
    | 'documentId'
    | 'annotationId'
    | 'commentId'
    | 'actorId'
    | 'platform'
    | 'payload'
  >

/** An event about the content of an editor, as it was recorded. */
export type ContentEvent = WebhookId & EditorEvent

export type WebhookEvent = ThreadEvent | ContentEvent

/** An annotation as REST shows it. Only the ids are always there. */
export type WebhookAnnotation = Partial<CommentAnnotation> & {
  /** The oldest comments are left out. */
  hasMoreComments?: true
  /** The annotation was deleted meanwhile: this is what the event says about it. */
  isDeleted?: true
}

export interface WebhookCrdtData {
  id: string
  /** The content as Get CRDT Data returns it. */
  data?: CrdtData
  /** The content is too large for a webhook, or it is gone or cannot be read. */
  isDataOmitted?: true
  lastUpdatedBy: string
  sessionId: string | null
  lastUpdate: string
}

/** A preference for each channel, by user. */
export type PreferencesByUser = Record<string, NotificationPreferences>

/** Everything that the webhooks of both systems say about an event, as plain JSON. It is stored until all are delivered. */
export interface WebhookData {
  event: EventName
  webhookId: string
  platform: Platform
  /** Absent: a backend did it and named no user. */
  actionUser?: User
  commentAnnotation?: WebhookAnnotation
  /** The comment that the event is about. */
  targetComment?: Partial<Comment>
  reaction?: { icon: string }
  oldStatus?: Status
  newStatus?: Status
  newPriority?: Priority | null
  /** Who is assigned now; null: nobody. */
  assigned?: User | null
  /** Only of private annotations. */
  visibility?: Pick<Visibility, 'type'> & {
    organizationId?: string | undefined
    organizationIds?: readonly string[]
    userIds?: readonly string[]
  }
  crdtData?: WebhookCrdtData
  metadata: {
    apiKey: string
    organizationId: string
    documentId: string
    document: Record<string, unknown>
    organization: Record<string, unknown>
  }
  usersOrganizationNotificationsConfig?: PreferencesByUser
  usersDocumentNotificationsConfig?: PreferencesByUser
  /** The involved users who may not read the document, or not see the annotation. */
  accessDeniedUsers: string[]
  /** Lists of users or details are left out, because the webhook would be too large. */
  isShortened?: true
}
