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
import type { Platform } from '../../events/consumer.ts'

/** An annotation as REST shows it. Only the ids are always there. */
export type WebhookAnnotation = Partial<CommentAnnotation> & {
  /** The oldest comments are left out. */
  hasMoreComments?: true
  /** The annotation is deleted. Only its ids are left. */
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

/** Everything that the webhooks of both systems say about an event, as plain JSON. Each attempt reads it again. */
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
  /** The involved users who may not read the document, or not see the annotation. Only processed basic webhooks show them. */
  accessDeniedUsers: string[]
  /** Lists of users or details are left out, because the webhook would be too large. */
  isShortened?: true
}
