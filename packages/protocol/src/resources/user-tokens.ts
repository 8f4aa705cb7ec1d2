import Type from 'typebox'
import { displayName, emailAddress } from '../base/fields.ts'
import { OrganizationId } from '../base/ids.ts'
import { flag, openObject, text } from '../base/schemas.ts'

const nonBlank = { minLength: 1, pattern: '\\S', 'x-invalid': 'must not be blank.' }

const IsAdmin = flag('Whether the user is an administrator. Default: false.')

/** A user as a token shows them (spec 7.1). */
export const UserProperties = openObject(
  Type.Object({
    name: Type.String({ ...nonBlank, maxLength: 1000, description: 'Display name of the user.' }),
    email: Type.Optional(
      emailAddress(
        'Email address of the user. Default: the one in the profile, or none, as for guests and agents.',
      ),
    ),
    isAdmin: Type.Optional(IsAdmin),
  }),
)

/** A user of one organization as a token shows them (spec 7.2). */
export const OrganizationUserProperties = openObject(
  Type.Object({
    organizationId: OrganizationId,
    isAdmin: Type.Optional(IsAdmin),
    email: Type.Optional(emailAddress('Email address of the user.')),
    name: Type.Optional(displayName('Display name of the user.')),
  }),
)

export const UserToken = Type.Object({ token: text('The signed token (JWT). It expires after 48 hours.') })

const credential = (description: string) => Type.Optional(Type.String({ maxLength: 4096, description }))

/** The credentials of operations that accept them inside `data` (spec 0.2). */
export const bodyCredentials = {
  apiKey: credential('Id of the API key. May be sent in the header `x-svc-api-key` instead.'),
  authToken: credential('Auth token of the API key. May be sent in the header `x-svc-auth-token` instead.'),
}
