import { isRecipient, type RecipientDeps } from '../../events/inbox/event-recipients.ts'
import type { Clock } from '../../platform/clock.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import * as configs from '../../store/notifications/configs.ts'
import { findEventAnnotation, inDocumentOf } from '../event-annotation.ts'
import { eventsOf } from './earlier-mails.ts'
import type { ActivityContent } from './mail-content.ts'
import { findShownComment, readEventContent } from './read-event-content.ts'
import type { StoredMail, StoredMailEvent } from './stored-mail.ts'

export interface DecideMailDeps extends RecipientDeps {
  clock: Pick<Clock, 'now'>
}

/** What a mail says now, or why it is not sent: a sentence for the operator. */
type Decided<More = unknown> = ({ content: ActivityContent } & More) | { refusal: string }

/** Decides what a mail says to a user now. Events that the user may not learn of any more are left out. */
export async function decideMail(
  deps: DecideMailDeps,
  key: ApiKey,
  mail: StoredMail,
  userId: string,
): Promise<Decided> {
  const contents: ActivityContent[] = []
  const documentIds = new Set<string>()
  let refusal = 'The mail has no event.'
  for (const event of eventsOf(mail)) {
    await yieldIfLate()
    const decided = await decideEvent(deps, key, event, userId)
    if ('refusal' in decided) ({ refusal } = decided)
    else {
      contents.push(decided.content)
      documentIds.add(decided.documentId)
    }
  }
  const [first, ...others] = contents
  if (!first) return { refusal }
  return { content: others.length > 0 ? digestOf([first, ...others], documentIds.size === 1) : first }
}

async function decideEvent(
  deps: DecideMailDeps,
  key: ApiKey,
  event: StoredMailEvent,
  userId: string,
): Promise<Decided<{ documentId: string }>> {
  const { read } = deps.database
  const { apiKey } = key
  const annotation = await findEventAnnotation(read, apiKey, event)
  if (!annotation) return { refusal: 'The thread was deleted.' }
  const found = await findShownComment(read, apiKey, event, annotation)
  if (!found) return { refusal: 'The comment was deleted.' }
  const now = inDocumentOf(annotation, event)
  const { organizationId, documentId } = now
  const choices = await configs.find(read, apiKey, organizationId, [documentId], [userId])
  if (choices.effective(userId, documentId).email === 'NONE')
    return { refusal: 'The user does not want emails any more.' }
  const recipient = { channel: 'email', now: deps.clock.now(), userId } as const
  if (!(await isRecipient(deps, key, now, annotation, recipient)))
    return { refusal: 'The user is not notified any more: of this thread, in this document or at all.' }
  const content = await readEventContent(read, key, now, annotation, found.comment)
  return { content, documentId }
}

/** One mail about several events. It names the document if all are about the same. */
function digestOf(
  contents: readonly [ActivityContent, ...ActivityContent[]],
  isOneDocument: boolean,
): ActivityContent {
  const [{ documentName, ...first }] = contents
  return {
    ...first,
    kind: 'digest',
    items: contents.flatMap(({ items }) => items) as unknown as ActivityContent['items'],
    ...(isOneDocument && documentName !== undefined && { documentName }),
  }
}
