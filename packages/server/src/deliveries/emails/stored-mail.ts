import type { MailContent } from './mail-content.ts'

/** The data of a message that is sent by email. */
export interface StoredMail<Content extends MailContent = MailContent> {
  /** Where the recipient can stop such mails. Of a digest: the document of its first event. */
  organizationId: string
  documentId: string
  content: Content
}
