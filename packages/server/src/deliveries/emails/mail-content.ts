import type { EventName } from '@plenum/protocol'

/** A user as a mail shows them. */
export interface MailPerson {
  userId?: string
  name: string
  email?: string
  photoUrl?: string
}

/** A comment as templates of a mail provider get it (spec 3.3). */
export interface TemplateComment {
  commentId: number
  commentText: string
  from: MailPerson
}

/** What only templates of a mail provider show (spec 3.3). */
export interface TemplateFields {
  firstComment?: TemplateComment
  latestComment?: TemplateComment
  prevComment?: TemplateComment
  /** The annotation as callers read it, without its comments. */
  commentAnnotation?: Record<string, unknown>
  documentMetadata?: Record<string, unknown>
  deviceInfo?: Record<string, unknown>
}

/** One thing that happened in a thread. All texts are plain text. */
export interface MailItem {
  event: EventName
  actor: MailPerson
  /** The comment that was written, or that the change is about, with names in place of ids. */
  commentText?: string
  /** The comment before it in the thread. */
  earlierComment?: { author: string; text: string }
  /** How many comments the thread has. */
  commentsCount?: number
  annotationId: string
  /** The title of the page or document with the thread. */
  pageTitle?: string
  /** Opens the thread. Only http and https URLs become links. */
  pageUrl?: string
  /** The name of the status, the priority and the assignee after the change. */
  status?: string
  priority?: string
  assignee?: MailPerson
  /** The users who are mentioned in the comment, and the author of the thread: a mail tells its recipient why it was sent. */
  mentionedUserIds?: readonly string[]
  authorId?: string
  /** Milliseconds. */
  timestamp: number
  template?: TemplateFields
}

/** Several items are one digest. */
export interface ActivityContent {
  kind: 'event' | 'digest'
  items: readonly [MailItem, ...MailItem[]]
  /** The name of the application, such as `fromCompany`. Empty: the mail does not name it. */
  company: string
  organizationName?: string
  documentName?: string
}

export interface LoginLinkContent {
  kind: 'loginLink'
  /** Contains a secret. It is stored encrypted only (`login-links.ts`). */
  url: string
  /** For how long the link is valid. */
  minutes: number
}

/** What a mail is about. */
export type MailContent = ActivityContent | LoginLinkContent

/** Whom one mail is for. */
export interface MailRecipient {
  userId?: string
  name?: string
  email: string
}

export interface RenderedMail {
  subject: string
  html: string
  text: string
}
