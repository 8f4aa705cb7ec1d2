import Type from 'typebox'
import { displayName, emailAddress } from '../base/fields.ts'
import { UserId } from '../base/ids.ts'
import { choice } from '../base/schemas.ts'

export const PresenceStatus = choice(
  ['online', 'away', 'offline'],
  'The status that other users see. Default for a new entry: `online`.',
)
export type PresenceStatus = Type.Static<typeof PresenceStatus>

/** A user of a presence list in a request. */
export const PresenceUser = Type.Object({
  userId: UserId,
  name: Type.Optional(displayName('Display name of the user.')),
  email: Type.Optional(emailAddress('Email address of the user.')),
  status: Type.Optional(PresenceStatus),
})
export type PresenceUser = Type.Static<typeof PresenceUser>
