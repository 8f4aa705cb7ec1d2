import Type from 'typebox'
import { AccessRole, ClientId, Name, open } from './fields.ts'

/** A user as it is written (spec 22.1); further keys are kept. */
export const UserInput = open(
  Type.Object({
    userId: ClientId,
    name: Type.Optional(Name),
    email: Type.Optional(Type.String({ maxLength: 320 })),
    photoUrl: Type.Optional(Type.String({ maxLength: 2000 })),
    initial: Type.Optional(Type.String({ maxLength: 10 })),
    color: Type.Optional(Type.String({ maxLength: 50 })),
    textColor: Type.Optional(Type.String({ maxLength: 50 })),
    accessRole: Type.Optional(AccessRole),
  }),
)
export type UserInput = Type.Static<typeof UserInput>

/** A user as it is read. */
export const User = open(
  Type.Object({
    userId: Type.String(),
    name: Type.Optional(Type.String()),
    email: Type.Optional(Type.String()),
    accessRole: Type.Optional(AccessRole),
  }),
)
export type User = Type.Static<typeof User>
