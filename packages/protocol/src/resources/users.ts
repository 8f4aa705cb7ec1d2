import Type, { type TSchema } from 'typebox'
import { AccessRole, ClientId, Email, Flag, Name, open, v2Only } from '../base/fields.ts'

/** A field of a profile: `null` removes it. */
const field = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))

const Color = Type.String({ maxLength: 50 })

/** A user as it is written (spec 22.1); further keys are kept, those that the server sets are ignored. */
const profile = {
  userId: ClientId,
  name: field(Name),
  email: field(Email),
  photoUrl: field(Type.String({ maxLength: 2000 })),
  initial: field(Type.String({ maxLength: 10 })),
  color: field(Color),
  textColor: field(Color),
  isReadOnly: field(Flag),
  isAnonymous: field(Flag),
  isGuest: field(Flag),
  plan: field(Name),
  groupId: field(Name),
  clientGroupId: field(Name),
}
export const UserInput = open(Type.Object({ ...profile, accessRole: Type.Optional(AccessRole) }))
export type UserInput = Type.Static<typeof UserInput>

/** A user with a role at the level that is addressed. */
export const MemberInput = open(Type.Object({ ...profile, accessRole: v2Only(AccessRole) }))

/** A user as it is read. Name, initial and color are always there: the server chooses those that nobody set. */
export const User = open(
  Type.Object({
    userId: Type.String(),
    name: Type.String(),
    email: Type.Optional(Type.String()),
    photoUrl: Type.Optional(Type.String()),
    initial: Type.String(),
    color: Type.String(),
    textColor: Type.Optional(Type.String()),
    accessRole: Type.Optional(AccessRole),
  }),
)
export type User = Type.Static<typeof User>
