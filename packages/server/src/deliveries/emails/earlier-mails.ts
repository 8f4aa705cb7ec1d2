import type { EventName } from '@plenum/protocol'
import { unseenSeq } from '../event-annotation.ts'
import type { StoredMail, StoredMailEvent } from './stored-mail.ts'

/** What earlier versions stored of a mail: its text as it was when the mail was prepared. Only the ids in it are used. */
interface EarlierMail {
  organizationId: string
  documentId: string
  content: {
    items: readonly {
      event: EventName
      actor: { userId?: string }
      annotationId: string
      timestamp: number
      status?: string
      priority?: string
      assignee?: { userId?: string }
    }[]
  }
}

/** The events that a mail is about. */
export const eventsOf = (mail: StoredMail | EarlierMail): readonly StoredMailEvent[] =>
  'events' in mail ? mail.events : mail.content.items.map((item) => toEvent(mail, item))

function toEvent(
  { organizationId, documentId }: EarlierMail,
  { event: name, actor, annotationId, timestamp, status, priority, assignee }: EarlierItem,
): StoredMailEvent {
  return {
    organizationId,
    documentId,
    annotationId,
    name,
    actorId: actor.userId ?? null,
    commentId: null,
    // The text was that of the comment which was created then.
    ...(isAboutComment(name) && { commentCreatedAt: timestamp }),
    seq: unseenSeq,
    changed: {
      ...(status !== undefined && { status }),
      priority: priority ?? null,
      assignedUserId: assignee?.userId ?? null,
    },
  }
}

type EarlierItem = EarlierMail['content']['items'][number]

const isAboutComment = (name: EventName) =>
  name === 'comment_annotation.add' || (name.startsWith('comment.') && name !== 'comment.delete')
