import Type from 'typebox'
import { displayName, emailAddress } from '../base/fields.ts'
import { UserId } from '../base/ids.ts'
import { choice, jsonObject } from '../base/schemas.ts'
import { Success } from './outcomes.ts'

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
  photoUrl: Type.Optional(
    Type.String({ maxLength: 2000, description: 'URL of a picture. Default: that of the profile.' }),
  ),
  color: Type.Optional(
    Type.String({ minLength: 1, maxLength: 50, description: 'CSS color. Default: that of the profile.' }),
  ),
  status: Type.Optional(PresenceStatus),
  data: Type.Optional(
    Type.Union([jsonObject('The data.'), Type.Null()], {
      description: 'Data that other users see, such as a cursor. At most 2 KiB as JSON. `null` removes it.',
    }),
  ),
})
export type PresenceUser = Type.Static<typeof PresenceUser>

/** The answer of calls that write presence lists. */
export const PresenceOutcome = Type.Object({
  ...Success.properties,
  ignoredFields: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'The sent fields of users that presence does not have, such as `users[0].colour`: the first 20. Absent if there are none.',
    }),
  ),
})
export type PresenceOutcome = Type.Static<typeof PresenceOutcome>
