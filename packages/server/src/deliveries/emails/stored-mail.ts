import type { MailedEvent } from '../../store/jobs.ts'
import type { EventAnnotation } from '../event-annotation.ts'

/**
 * The data of a message that is sent by email: which events it is about, and no text. Each attempt decides again who may get
 * the mail and what it says.
 */
export interface StoredMail {
  /** Where the recipient can stop such mails. Of a digest: the document of its first event. */
  organizationId: string
  documentId: string
  events: readonly StoredMailEvent[]
}

/** An event of a mail. */
export interface StoredMailEvent extends MailedEvent, EventAnnotation {
  /** In place of `commentId`: when the comment was created. Only in what earlier versions stored. */
  commentCreatedAt?: number
  /** What the event changed, as it was then. */
  changed?: { status?: string; priority?: string | null; assignedUserId?: string | null } | undefined
}
