import type { MailContent, MailRecipient, RenderedMail } from './mail-content.ts'
import { renderActivity } from './templates/activity-mail.ts'
import type { MailLinks } from './templates/footer.ts'
import { renderLoginLink } from './templates/login-link-mail.ts'

/** The subject and both bodies of a mail. All values of `content` may be hostile. */
export const renderMail = (
  content: MailContent,
  options: { recipient: MailRecipient } & MailLinks,
): RenderedMail =>
  content.kind === 'loginLink' ? renderLoginLink(content) : renderActivity(content, options)
