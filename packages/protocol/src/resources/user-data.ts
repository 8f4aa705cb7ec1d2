import Type from 'typebox'
import { AccessRole } from '../base/fields.ts'
import { choice, described, jsonValue, openObject, text } from '../base/schemas.ts'
import { Activity } from './activities.ts'
import { commentFields, CommentId } from './comments.ts'
import { Notification } from './notifications.ts'
import { User } from './users.ts'

const place = {
  documentId: text('Id of the document.'),
  annotationId: text('Id of the annotation.'),
}

/** A comment in an export, and where it is. */
export const ExportedComment = openObject(Type.Object({ ...place, ...commentFields }))
export type ExportedComment = Type.Static<typeof ExportedComment>

export const ExportedReaction = Type.Object({
  ...place,
  commentId: CommentId,
  icon: text('The icon, such as `HEART_FACE`.'),
  createdAt: Type.Integer({ description: 'When the user reacted, as Unix time in milliseconds.' }),
})
export type ExportedReaction = Type.Static<typeof ExportedReaction>

export const ExportedResource = Type.Object({
  type: choice(['organization', 'folder', 'document', 'context'], 'What the user was granted.'),
  id: text('Its id. For a field of the access context: `key:value`.'),
  accessRole: AccessRole,
})
export type ExportedResource = Type.Static<typeof ExportedResource>

/** What is stored about a user in one organization. */
export const UserData = Type.Object({
  user: Type.Optional(described(User, 'The profile. Only on the first page, and only if there is one.')),
  resources: Type.Array(ExportedResource, { description: 'Where the user was added.' }),
  comments: Type.Array(ExportedComment, { description: 'Comments that the user wrote or is mentioned in.' }),
  reactions: Type.Array(ExportedReaction, { description: 'Reactions of the user.' }),
  recordings: Type.Array(jsonValue('A recording.'), { description: 'Always empty.' }),
  notifications: Type.Array(Notification, { description: 'Notifications that the user received.' }),
  activities: Type.Array(Activity, { description: 'Activities of the user.' }),
})
export type UserData = Type.Static<typeof UserData>
