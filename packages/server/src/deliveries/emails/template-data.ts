import { groupedNames } from '@plenum/protocol'
import type { ActivityContent, MailRecipient, RenderedMail } from './mail-content.ts'
import type { MailLinks } from './templates/footer.ts'
import { lines, oneLine, shownName, webUrl } from './templates/texts.ts'
import { titleOf } from './templates/wording.ts'

/** As in a mail of our own. */
const maxMessageCharacters = 2000

/** What a template of a mail provider can show about one event (spec 3.3). The provider escapes the values. */
export function templateData(
  content: ActivityContent,
  recipient: MailRecipient,
  { subject }: Pick<RenderedMail, 'subject'>,
  { unsubscribeUrl = '' }: MailLinks,
): Record<string, unknown> {
  const [item] = content.items
  const { actor, commentsCount = 0, commentText = '', event, template = {} } = item
  const { firstComment, latestComment, prevComment, commentAnnotation, documentMetadata } = template
  const photoUrl = webUrl(actor.photoUrl)
  const messageFromName = shownName(actor.name)
  return {
    firstComment: firstComment ?? null,
    latestComment: latestComment ?? null,
    prevComment: prevComment ?? null,
    commentsCount,
    commentsCountMoreThanThree: commentsCount > 3,
    fromUser: { ...actor, name: messageFromName, photoUrl: photoUrl ?? '' },
    commentAnnotation: commentAnnotation ?? null,
    actionType: groupedNames[event] ?? event,
    documentMetadata: documentMetadata ?? {},
    message: lines(commentText, maxMessageCharacters),
    messageFromName,
    name: oneLine(recipient.name ?? ''),
    fromEmail: actor.email ?? '',
    photoUrl: photoUrl ?? '',
    pageUrl: webUrl(item.pageUrl) ?? '',
    pageTitle: titleOf(item, content),
    deviceInfo: template.deviceInfo ?? {},
    subject,
    unsubscribeUrl,
  }
}
