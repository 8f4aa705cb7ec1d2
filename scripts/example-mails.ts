import type {
  ActivityContent,
  MailContent,
  MailItem,
} from '../packages/server/src/deliveries/emails/mail-content.ts'

const ada = { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' }
const grace = { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' }
const item: MailItem = {
  event: 'comment.add',
  actor: ada,
  commentText:
    'The pricing table still shows last year’s numbers.\n\n@Grace Hopper, can you check it before we publish on Friday?',
  annotationId: 'a1',
  commentsCount: 1,
  pageTitle: 'Launch plan',
  pageUrl: 'https://app.example.com/documents/launch-plan?thread=a1',
  authorId: 'ada',
  timestamp: Date.UTC(2026, 10, 18, 9, 41),
}
const earlierComment = {
  author: 'Grace Hopper',
  text: 'Is this page ready? I would like to publish it this week.',
}
const mail = (...[first, ...others]: [Partial<MailItem>, ...Partial<MailItem>[]]): ActivityContent => ({
  kind: others.length === 0 ? 'event' : 'digest',
  items: [{ ...item, ...first }, ...others.map((other) => ({ ...item, ...other }))],
  company: 'Acme',
  organizationName: 'Acme Marketing',
  documentName: 'Launch plan',
})

/** Whom the examples are for. */
export const recipient = { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' }

/** One mail of each kind. */
export const exampleMails: Record<string, MailContent> = {
  mention: mail({ mentionedUserIds: ['grace'], earlierComment, commentsCount: 4 }),
  'new-thread': mail({
    event: 'comment_annotation.add',
    commentText: 'I would move this paragraph to the top: it is the reason why people should upgrade.',
  }),
  reply: mail({
    commentText: 'Yes, from my side it is. I only wait for the new picture.',
    earlierComment,
    commentsCount: 3,
    authorId: 'grace',
  }),
  status: mail({
    event: 'comment_annotation.status_change',
    status: 'Resolved',
    commentText: earlierComment.text,
    authorId: 'grace',
    commentsCount: 5,
  }),
  assignment: mail({
    event: 'comment_annotation.assign',
    assignee: grace,
    commentText: 'We need a shorter headline for phones.',
  }),
  priority: mail({
    event: 'comment_annotation.priority_change',
    priority: 'P0',
    commentText: 'The sign-up button does nothing in Firefox.',
    authorId: 'grace',
  }),
  digest: mail(
    { mentionedUserIds: ['grace'] },
    {
      actor: { userId: 'alan', name: 'Alan Turing' },
      commentText: 'I have updated the table. The old numbers came from the archive.',
      timestamp: Date.UTC(2026, 10, 18, 9, 52),
    },
    {
      actor: { userId: 'katherine', name: 'Katherine Johnson' },
      event: 'comment_annotation.status_change',
      status: 'Resolved',
      commentText: undefined,
      timestamp: Date.UTC(2026, 10, 18, 10, 3),
    },
  ),
  'login-link': {
    kind: 'loginLink',
    url: 'https://console.example.com/#login=Zk3vYw8r0mQ1tN5uB7xE2aJ9cH4dLfGpSoKiVyWqRt6',
    minutes: 15,
  },
}
