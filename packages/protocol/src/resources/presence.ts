import Type from 'typebox'
import { choice, ClientId, Email, Name } from '../base/fields.ts'

export const PresenceStatus = choice(['online', 'away', 'offline'])
export type PresenceStatus = Type.Static<typeof PresenceStatus>

/** A user in a document's presence list, as it is written. */
export const PresenceUser = Type.Object({
  userId: ClientId,
  name: Type.Optional(Name),
  email: Type.Optional(Email),
  status: Type.Optional(PresenceStatus),
})
export type PresenceUser = Type.Static<typeof PresenceUser>
