import Type from 'typebox'
import { AccessRole, LastUpdated } from '../base/fields.ts'
import { choice, described, jsonValue, openObject, text } from '../base/schemas.ts'
import { Activity } from './activities.ts'
import { commentFields, CommentId } from './comments.ts'
import { Notification, NotificationPreferences } from './notifications.ts'
import { PresenceStatus } from './presence.ts'
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

export const ExportedGroup = Type.Object({
  groupId: text('Id of the group.'),
  groupName: text('Display name of the group.'),
})

export const ExportedPreferences = Type.Object({
  documentId: text('Id of the document. Empty for the default of the organization.'),
  config: described(NotificationPreferences, 'The preferences that the user chose, by channel.'),
})

export const ExportedInvolvement = Type.Object({
  ...place,
  involvement: choice(
    ['commented', 'mentioned', 'assigned', 'subscribed', 'unsubscribed'],
    'How the user is involved. `subscribed` and `unsubscribed` are the own choice of the user.',
  ),
})

export const ExportedPresence = Type.Object({
  documentId: place.documentId,
  status: PresenceStatus,
  name: Type.Optional(text('Display name that the backend sent.')),
  email: Type.Optional(text('Email address that the backend sent.')),
  lastUpdated: LastUpdated,
})

export const ExportedVersion = Type.Object({
  documentId: place.documentId,
  editorId: text('Id of the editor.'),
  versionId: text('Id of the version.'),
})

/** What is stored about a user in one organization. */
export const UserData = Type.Object({
  user: Type.Optional(described(User, 'The profile. Only on the first page, and only if there is one.')),
  resources: Type.Array(ExportedResource, { description: 'Where the user was added.' }),
  comments: Type.Array(ExportedComment, { description: 'Comments that the user wrote or is mentioned in.' }),
  reactions: Type.Array(ExportedReaction, { description: 'Reactions of the user.' }),
  recordings: Type.Array(jsonValue('A recording.'), { description: 'Always empty.' }),
  notifications: Type.Array(Notification, { description: 'Notifications that the user received.' }),
  activities: Type.Array(Activity, { description: 'Activities of the user.' }),
  groups: Type.Array(ExportedGroup, { description: 'Groups that the user is in.' }),
  preferences: Type.Array(ExportedPreferences, { description: 'Notification preferences of the user.' }),
  involvements: Type.Array(ExportedInvolvement, {
    description: 'How the user is involved in annotations: assignments and subscriptions too.',
  }),
  causedNotifications: Type.Array(Notification, { description: 'Notifications that the user caused.' }),
  presence: Type.Array(ExportedPresence, {
    description: 'Entries in presence lists that a backend added for the user.',
  }),
  versions: Type.Array(ExportedVersion, { description: 'Versions of editors that the user saved.' }),
})
export type UserData = Type.Static<typeof UserData>
