import Type from 'typebox'
import { displayName, emailAddress, longText } from '../base/fields.ts'
import { ChosenId, UserId } from '../base/ids.ts'
import {
  choice,
  described,
  flag,
  jsonObject,
  mapOf,
  maxBatchItems,
  openObject,
  text,
} from '../base/schemas.ts'
import { outcome, Success } from './outcomes.ts'

export const Preference = choice(
  ['ALL', 'MINE', 'NONE'],
  'Which notifications the user receives on this channel: all, only those that involve the user, or none.',
)
export type Preference = Type.Static<typeof Preference>

const Channels = Type.Object({
  inbox: Type.Optional(
    described(Preference, 'Notifications in the inbox: all, only those that involve the user, or none.'),
  ),
  email: Type.Optional(
    described(Preference, 'Notifications by email: all, only those that involve the user, or none.'),
  ),
  slack: Type.Optional(
    described(Preference, 'Notifications in Slack: all, only those that involve the user, or none.'),
  ),
})
/** Preferences by channel: `inbox`, `email`, `slack` and channels of the caller (spec 18.6). */
export const NotificationPreferences = Type.Unsafe<Type.Static<typeof Channels> & Record<string, Preference>>(
  { ...Channels, additionalProperties: Preference },
)
export type NotificationPreferences = Type.Static<typeof NotificationPreferences>

/** Limits the channels of a user: far more than apps have. Without a limit a caller could fill the database (spec 18.6). */
export const maxChannels = 20

const metadata = {
  organizationId: text('Id of the organization.'),
  apiKey: text('Id of the API key.'),
}

export const NotificationConfigMetadata = Type.Object({
  ...metadata,
  documentId: Type.Optional(text('Id of the document. Empty for the default of the organization.')),
  userId: text('Id of the user.'),
})

export const NotificationConfig = Type.Object({
  config: described(NotificationPreferences, 'The preferences of the user, by channel.'),
  metadata: described(NotificationConfigMetadata, 'The user and the document that the preferences apply to.'),
})
export type NotificationConfig = Type.Static<typeof NotificationConfig>

export const NotificationConfigOutcome = Type.Object({
  success: outcome.success,
  userId: text('Id of the user.'),
  documentId: Type.Optional(text('Id of the first document that was sent.')),
  documentIds: Type.Optional(
    Type.Array(Type.String(), { description: 'Ids of all documents. Present if several were sent.' }),
  ),
  message: outcome.message,
})

export const NotificationSource = choice(
  ['custom', 'comment', 'huddle', 'crdt'],
  'The feature that the notification comes from. Default: `custom`.',
)

/** A user as a notification shows them. */
export const NotificationUser = openObject(
  Type.Object({
    userId: Type.Optional(UserId),
    name: Type.Optional(displayName('Display name of the user.')),
    email: Type.Optional(emailAddress('Email address of the user.')),
  }),
)
export type NotificationUser = Type.Static<typeof NotificationUser>

const ActionUser = described(NotificationUser, 'The user who caused the notification.')

export const HeadlineData = openObject(
  Type.Object({
    actionUser: Type.Optional(ActionUser),
    recipientUser: Type.Optional(
      Type.Union([Type.String({ maxLength: 100_000 }), NotificationUser], {
        description: 'The user who receives the notification, or the name to show.',
      }),
    ),
  }),
)

/** The fields of a notification that an update replaces one by one. */
export const notificationContent = {
  displayHeadlineMessageTemplate: Type.Optional(
    longText('Headline of the notification, with placeholders such as `{actionUser}`.'),
  ),
  displayBodyMessage: Type.Optional(longText('Text of the notification.')),
  displayHeadlineMessageTemplateData: Type.Optional(
    described(HeadlineData, 'Values for the placeholders of the headline.'),
  ),
  notificationSourceData: Type.Optional(jsonObject('Data of your application. Stored as sent.')),
}

export const IsNotificationResolverUsed = flag(
  'True: your application provides the texts, so headline and body may be absent.',
)

/** The id that the caller chose for a location, or the hash that stored records carry for the location (spec 22.5). */
export const LocationId = Type.Union(
  [ChosenId, Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })],
  { description: 'Id of the location inside the document, or the number that notifications carry for it.' },
)
export const Location = jsonObject(
  'Location inside the document, in the form of your application. It needs an `id` or a `locationName`, unless `locationId` is sent.',
)

export const NotificationContext = openObject(
  Type.Object({
    access: Type.Optional(
      mapOf(
        Type.Union([Type.String({ maxLength: 1000 }), Type.Number()]),
        'Access context: only users who hold every `key:value` of it read the notification.',
      ),
    ),
  }),
)

export const NotificationChange = Type.Object({
  id: described(ChosenId, 'Id of the notification.'),
  actionUser: Type.Optional(ActionUser),
  ...notificationContent,
  readByUserIds: Type.Optional(
    Type.Array(ChosenId, {
      maxItems: maxBatchItems,
      description: 'Ids of the users for whom to mark the notification as read.',
    }),
  ),
  persistReadForUsers: Type.Optional(
    flag('True: the notification stays in the personal list of the users who have read it. Default: false.'),
  ),
})

export const NotificationMetadata = Type.Object({
  apiKey: metadata.apiKey,
  organizationId: metadata.organizationId,
  documentId: text('Id of the document.'),
  locationId: Type.Optional(LocationId),
  location: Type.Optional(Location),
  documentMetadata: jsonObject('The document with its metadata.'),
  organizationMetadata: jsonObject('The organization with its metadata.'),
})

/** Maps a hash of a user id, or of a lower-case email address, to `true` (spec 22.10). */
const hashes = (description: string) => mapOf(Type.Boolean(), description)

/** A notification in an answer (spec 22.10). */
export const Notification = Type.Object({
  id: text('Id of the notification.'),
  notificationSource: NotificationSource,
  actionType: Type.Optional(
    text('What happened, such as `comment.added`. Present in notifications about events.'),
  ),
  actionUser: ActionUser,
  ...notificationContent,
  isNotificationResolverUsed: Type.Optional(IsNotificationResolverUsed),
  targetAnnotationId: Type.Optional(
    text('Id of the annotation that the notification is about. Present in notifications about comments.'),
  ),
  context: Type.Optional(jsonObject('Data for your notification resolver. Stored as sent.')),
  notifyUsers: hashes('Hashes of the email addresses that Add Notifications got in `notifyUsers`.'),
  notifyUsersByUserId: hashes('Hashes of the user ids that Add Notifications got in `notifyUsers`.'),
  metadata: described(
    NotificationMetadata,
    'The organization, document and location that the notification is about.',
  ),
  timestamp: Type.Integer({
    description: 'When the notification was added, as Unix time in milliseconds.',
  }),
  isUnread: Type.Optional(
    flag('Whether the user has not read the notification. Present when `userId` was sent.'),
  ),
  forYou: Type.Optional(
    flag('Whether the notification is in the personal list of the user. Present when `userId` was sent.'),
  ),
})
export type Notification = Type.Static<typeof Notification>

export const NewNotification = Type.Object({
  ...Success.properties,
  id: text('Id of the notification.'),
  message: text('The message of the answer.'),
})
