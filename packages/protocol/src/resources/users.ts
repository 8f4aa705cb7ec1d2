import Type, { type TSchema } from 'typebox'
import { AccessRole, displayName, emailAddress, shortText } from '../base/fields.ts'
import { UserId } from '../base/ids.ts'
import { described, flag, openObject, text, v2Only } from '../base/schemas.ts'

/** A field of a profile. `null` removes it. */
const profileField = <T extends TSchema & { description?: string }>({ description, ...schema }: T) =>
  Type.Optional(Type.Union([schema as T, Type.Null()], { description }))

const cssColor = (description: string) => Type.String({ maxLength: 50, description })

/** A user in a request (spec 22.1). Further keys are stored; the keys that only the server sets are ignored. */
const profile = {
  userId: UserId,
  name: profileField(displayName('Display name of the user.')),
  email: profileField(emailAddress('Email address of the user.')),
  photoUrl: profileField(Type.String({ maxLength: 2000, description: 'URL of a picture of the user.' })),
  initial: profileField(
    Type.String({
      maxLength: 10,
      description: 'Letters to show instead of a picture. Default: the first letter of the name.',
    }),
  ),
  color: profileField(cssColor('CSS color of the user. Default: derived from the user id.')),
  textColor: profileField(cssColor('CSS color of text on `color`.')),
  isReadOnly: profileField(
    flag('Whether the user only reads. Stored with the profile: it is not a permission.'),
  ),
  isAnonymous: profileField(flag('Whether the user is anonymous. Stored with the profile.')),
  isGuest: profileField(flag('Whether the user is a guest. Stored with the profile.')),
  plan: profileField(shortText('Plan of the user in your application. Stored with the profile.')),
  groupId: profileField(shortText('Group id in your application. Stored with the profile. Deprecated.')),
  clientGroupId: profileField(
    shortText('Group id in your application. Stored with the profile. Deprecated.'),
  ),
}
export const UserInput = openObject(Type.Object({ ...profile, accessRole: Type.Optional(AccessRole) }))
export type UserInput = Type.Static<typeof UserInput>

/** A user by id. */
export const NamedUser = Type.Object({ userId: UserId })

/** A user with a role in the document, folder or organization that the call addresses. */
export const MemberInput = openObject(
  Type.Object({
    ...profile,
    accessRole: v2Only(
      described(
        AccessRole,
        'What the user may do in the document, folder or organization of the call: a `viewer` reads, an `editor` reads and writes. Default for a new user: a role that another grant or the token of the user names, otherwise `editor`.',
      ),
    ),
  }),
)

/** A user in an answer. */
export const User = openObject(
  Type.Object({
    userId: text('Id of the user.'),
    name: text('Display name of the user. The server derives one if none was set.'),
    email: Type.Optional(text('Email address of the user.')),
    photoUrl: Type.Optional(text('URL of a picture of the user.')),
    initial: text('Letters to show instead of a picture.'),
    color: text('CSS color of the user.'),
    textColor: Type.Optional(text('CSS color of text on `color`.')),
    accessRole: Type.Optional(
      described(
        AccessRole,
        'Role of the grant in the document, folder or organization of the call: a `viewer` reads, an `editor` reads and writes. `editor` if nobody sent a role; Get Permissions has the role that applies.',
      ),
    ),
  }),
)
export type User = Type.Static<typeof User>

/** A user as other users of the organization see them. */
export const Person = Type.Object({
  userId: text('Id of the user.'),
  name: text('Display name of the user. The server derives one if none was set.'),
  photoUrl: Type.Optional(text('URL of a picture of the user.')),
  initial: text('Letters to show instead of a picture.'),
  color: text('CSS color of the user.'),
})
export type Person = Type.Static<typeof Person>
