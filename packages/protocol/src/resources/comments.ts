import Type from 'typebox'
import { unless } from '../base/conditions.ts'
import { LastUpdated, shortText } from '../base/fields.ts'
import { ActingUserId, ChosenId, DocumentId, OrganizationId, visibleCharacters } from '../base/ids.ts'
import { maxIdLength } from '../base/limits.ts'
import { choice, described, flag, jsonObject, openObject, text, v2Only } from '../base/schemas.ts'
import { outcome } from './outcomes.ts'
import { User, UserInput } from './users.ts'

/** The id of an annotation. It has no `:`, because clients use the id as part of a key (spec 0.6). */
export const AnnotationId = Type.String({
  minLength: 1,
  maxLength: maxIdLength,
  pattern: '^(?!\\s*$)(?!\\.{1,2}$)[^:\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]+$',
  'x-invalid': 'must not contain ":" or control characters and must not be "." or "..".',
  description: 'Id of the annotation.',
})

export const CommentId = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Id of the comment inside the annotation.',
})

export const Icon = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: `^(?!\\s*$)${visibleCharacters}`,
  'x-invalid': 'must not be blank and must not contain control characters.',
  description: 'The icon of the reaction: a name such as `HEART_FACE`, or an emoji.',
})

/** A reaction of a user to a comment. */
export const ReactionInput = Type.Object({
  organizationId: OrganizationId,
  documentId: DocumentId,
  annotationId: AnnotationId,
  commentId: CommentId,
  icon: Icon,
  userId: Type.Optional(ActingUserId),
})

/** Limits of one comment and of one annotation. */
export const commentLimits = {
  textLength: 10_000,
  htmlLength: 20_000,
  htmlTags: 1_000,
  mentions: 100,
  attachments: 50,
  commentsPerAnnotation: 1_000,
  usersPerAnnotation: 500,
  reactionsPerAnnotation: 1_000,
} as const

/** A text of several lines: line breaks and tabs are the only control characters. */
const lines = (maxLength: number, description: string) =>
  Type.String({
    maxLength,
    pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$',
    'x-invalid': 'must not contain control characters other than line breaks and tabs.',
    description,
  })

/** A Unix time in milliseconds that the caller may choose, to import older comments or to compare with. */
export const importedTime = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000, description })

export const Attachment = openObject(
  Type.Object({
    attachmentId: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Id of the attachment inside the comment.',
    }),
    name: Type.Optional(shortText('Name of the file.')),
    url: Type.Optional(Type.String({ maxLength: 4_000, description: 'Where the file can be read.' })),
    mimeType: Type.Optional(shortText('Media type of the file.')),
    size: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Size in bytes.' }),
    ),
    type: Type.Optional(shortText('Kind of the file, such as `image`, `video` or `document`.')),
  }),
)

export const TaggedContact = openObject(
  Type.Object({ userId: Type.Optional(described(ChosenId, 'Id of the mentioned user.')) }),
)

export const TaggedUser = openObject(
  Type.Object(
    {
      text: Type.Optional(shortText('The text that stands for the user, such as `@Ada`. Required under v1.')),
      userId: Type.Optional(described(ChosenId, 'Id of the mentioned user.')),
      contact: Type.Optional(described(TaggedContact, 'The mentioned user, if `userId` is absent.')),
    },
    { 'x-v1-conditions': { required: ['text'] } },
  ),
)

/** The content of a comment: what an update may replace. */
export const commentContent = {
  commentText: Type.Optional(
    lines(
      commentLimits.textLength,
      'The comment as plain text. `{{userId}}` mentions a user; an id that no user has is shown as text. Required unless `commentHtml` or `attachments` is sent.',
    ),
  ),
  commentHtml: Type.Optional(
    lines(
      commentLimits.htmlLength,
      'The comment as HTML. Stored with formatting only: scripts, styles, event handlers and unsafe links are removed.',
    ),
  ),
  taggedUserContacts: Type.Optional(
    Type.Array(TaggedUser, {
      maxItems: commentLimits.mentions,
      description: 'The users that the comment mentions.',
    }),
  ),
  context: v2Only(jsonObject('Data of your application. Stored as sent.')),
  attachments: v2Only(
    Type.Array(Attachment, {
      maxItems: commentLimits.attachments,
      description: 'Descriptions of files. The files themselves are stored elsewhere.',
    }),
  ),
  isCommentResolverUsed: Type.Optional(
    flag('True: your application stores the text, so it may be absent here.'),
  ),
  isCommentTextAvailable: Type.Optional(flag('Whether your application has the text. Stored as sent.')),
}

/** The comment has text, HTML or an attachment. */
const hasContent = (...fields: readonly ('commentText' | 'commentHtml' | 'attachments')[]) => ({
  anyOf: fields.map((field) => ({
    properties: { [field]: field === 'attachments' ? { minItems: 1 } : { pattern: '\\S' } },
    required: [field],
  })),
})

const Author = described(
  UserInput,
  'The author. Required for backends. With a user token, the author is the user of the token.',
)

/** A new comment. */
export const CommentData = Type.Object(
  {
    commentId: Type.Optional(described(CommentId, 'Id of the comment. Default: a new number.')),
    ...commentContent,
    from: Type.Optional(Author),
    createdAt: Type.Optional(
      importedTime('When the comment was written, in Unix milliseconds. Default: now.'),
    ),
    lastUpdated: Type.Optional(importedTime('When it was last changed, in Unix milliseconds. Default: now.')),
    triggerNotification: v2Only(
      flag('True: users are notified as if a client had written the comment. Default: false.'),
    ),
    triggerActivities: v2Only(flag('True: the comment is recorded as an activity. Default: false.')),
  },
  {
    'x-conditions': unless(
      'isCommentResolverUsed',
      true,
      hasContent('commentText', 'commentHtml', 'attachments'),
    ),
    'x-v1-conditions': unless('isCommentResolverUsed', true, hasContent('commentText', 'commentHtml')),
  },
)
export type CommentData = Type.Static<typeof CommentData>

export const NewComments = Type.Array(CommentData, {
  minItems: 1,
  maxItems: 100,
  description: 'The comments, oldest first.',
})

/** What an update of comments changes. A sent field replaces the stored one. */
export const CommentChange = Type.Object({
  ...commentContent,
  from: Type.Optional(described(UserInput, 'The author. Default: the author stays.')),
})

export const ReactionUser = Type.Object({
  from: described(User, 'The user who reacted.'),
  lastUpdated: Type.Integer({ description: 'When the user reacted, as Unix time in milliseconds.' }),
})

export const Reaction = Type.Object({
  annotationId: text('Id of the reaction.'),
  type: choice(['reaction'], 'Always `reaction`.'),
  icon: text('The icon, such as `HEART_FACE`.'),
  fromUsers: Type.Array(ReactionUser, { description: 'The users who reacted with this icon.' }),
  commentAnnotationId: text('Id of the annotation.'),
  lastUpdated: LastUpdated,
})

/** The fields of a comment in an answer (spec 22.7). */
export const commentFields = {
  commentId: CommentId,
  type: choice(['text', 'voice'], 'Kind of the comment.'),
  commentText: Type.Optional(text('The comment as plain text.')),
  commentHtml: Type.Optional(text('The comment as HTML, safe to show.')),
  from: described(User, 'The author.'),
  to: Type.Array(User, { description: 'The mentioned users.' }),
  taggedUserContacts: Type.Array(TaggedUser, { description: 'The mentions as they were sent.' }),
  status: choice(['added', 'updated'], 'Whether the comment was changed after it was added.'),
  attachments: Type.Array(Attachment, { description: 'Descriptions of files.' }),
  reactionAnnotationIds: Type.Array(Type.String(), { description: 'Ids of the reactions.' }),
  reactionAnnotations: Type.Array(Reaction, { description: 'The reactions.' }),
  createdAt: Type.Union([Type.Integer(), Type.String()], {
    description: 'Unix time in milliseconds; under v1 in ISO 8601.',
  }),
  lastUpdated: text('Time of the last change, in ISO 8601.'),
}
export const Comment = openObject(Type.Object(commentFields))
export type Comment = Type.Static<typeof Comment>

export const CommentOutcome = Type.Object({
  success: outcome.success,
  id: CommentId,
  message: outcome.message,
})
