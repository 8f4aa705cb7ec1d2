import Type from 'typebox'
import { choice, ClientId, JsonObject, mapOf, Name, open, Text, Timestamp } from '../base/fields.ts'

/** How much of what happens reaches a user on one channel (spec 18.6). */
export const Preference = choice(['ALL', 'MINE', 'NONE'])
export type Preference = Type.Static<typeof Preference>

const Channels = Type.Object({
  inbox: Type.Optional(Preference),
  email: Type.Optional(Preference),
  slack: Type.Optional(Preference),
})
/** Preferences by channel: `inbox`, `email`, `slack` and ids of the caller's own. */
export const NotificationPreferences = Type.Unsafe<Type.Static<typeof Channels> & Record<string, Preference>>(
  { ...Channels, additionalProperties: Preference },
)
export type NotificationPreferences = Type.Static<typeof NotificationPreferences>

export const NotificationConfig = Type.Object({
  config: NotificationPreferences,
  metadata: Type.Object({
    organizationId: Type.String(),
    apiKey: Type.String(),
    /** Not on the default of the organization. */
    documentId: Type.Optional(Type.String()),
    userId: Type.String(),
  }),
})
export type NotificationConfig = Type.Static<typeof NotificationConfig>

export const NotificationSource = choice(['custom', 'comment', 'huddle', 'crdt'])

/** Somebody as a notification shows them. */
export const NotificationUser = open(
  Type.Object({
    userId: Type.Optional(ClientId),
    name: Type.Optional(Name),
    email: Type.Optional(Type.String({ maxLength: 320 })),
  }),
)
export type NotificationUser = Type.Static<typeof NotificationUser>

/** What fills the placeholders of a headline. */
export const HeadlineData = open(
  Type.Object({
    actionUser: Type.Optional(NotificationUser),
    recipientUser: Type.Optional(Type.Union([Text, NotificationUser])),
  }),
)

/** The words and objects of a notification, which an update replaces one by one. */
export const notificationContent = {
  displayHeadlineMessageTemplate: Type.Optional(Text),
  displayBodyMessage: Type.Optional(Text),
  displayHeadlineMessageTemplateData: Type.Optional(HeadlineData),
  notificationSourceData: Type.Optional(JsonObject),
}

/** The number that records carry for a location, or a name of the caller's own for it (spec 22.5). */
export const LocationId = Type.Union([
  ClientId,
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
])

/** A map from the hash of a user id, or of a lower-case address, to `true` (spec 22.10). */
const Hashes = mapOf(Type.Boolean())

/** A notification as it is read (spec 22.10). */
export const Notification = Type.Object({
  id: Type.String(),
  notificationSource: NotificationSource,
  actionUser: NotificationUser,
  ...notificationContent,
  isNotificationResolverUsed: Type.Optional(Type.Boolean()),
  context: Type.Optional(JsonObject),
  notifyUsers: Hashes,
  notifyUsersByUserId: Hashes,
  metadata: Type.Object({
    apiKey: Type.String(),
    organizationId: Type.String(),
    documentId: Type.String(),
    locationId: Type.Optional(LocationId),
    location: Type.Optional(JsonObject),
    documentMetadata: JsonObject,
    organizationMetadata: JsonObject,
  }),
  timestamp: Timestamp,
  isUnread: Type.Optional(Type.Boolean()),
  forYou: Type.Optional(Type.Boolean()),
})
export type Notification = Type.Static<typeof Notification>
