import Type from 'typebox'
import { UserId } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { batch, described, text } from '../base/schemas.ts'
import { ProviderPermission } from '../resources/permission-provider.ts'
import { TokenPermissions } from '../resources/permissions.ts'
import {
  bodyCredentials,
  OrganizationUserProperties,
  UserProperties,
  UserToken,
} from '../resources/user-tokens.ts'

const token =
  'eyJhbGciOiJFUzI1NiIsImtpZCI6ImtleV8xIiwidHlwIjoiSldUIn0.eyJpc3MiOiJzdmMiLCJzdWIiOiJ1c2VyXzEifQ.c2lnbmF0dXJl'

const userProperties = 'How the user is shown. Further keys are kept as claims of the token.'

const invalidEmail = {
  status: 'INVALID_ARGUMENT',
  message: 'userProperties.email must be a valid email address.',
} as const

const tooLarge = {
  status: 'INVALID_ARGUMENT',
  message: 'userProperties and permissions are too large for a token.',
} as const

const reservedName = {
  status: 'INVALID_ARGUMENT',
  message: 'userId must not be "server": writes of your backend are stored under this name.',
} as const

export const auth = {
  generateToken: operation({
    spec: '7.1',
    path: '/auth/generate_token',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    title: 'Generate Token',
    summary: 'Issues a signed token for a user, with permissions.',
    description:
      'The token is a JWT (ES256) that expires 48 hours after its issue. The public keys that verify it are at `/.well-known/jwks.json`. Further keys of `userProperties` become claims. Nothing is stored: the permissions apply to the sessions that use the token, until a later grant or removal overrides them. Documents are `public` by default, so every user token of the API key can open all of its documents, including those that the token does not name. `defaultDocumentAccessType` of Update API Key Config changes that. `server` and `rest-api` cannot be user ids: writes by your backend are stored under them. If required fields are missing, `details.missing` names all of them.',
    input: Type.Object(
      {
        userId: UserId,
        userProperties: described(UserProperties, userProperties),
        permissions: described(TokenPermissions, 'What the token permits.'),
      },
      { 'x-reports-all-missing': true },
    ),
    output: UserToken,
    message: 'Token generated successfully.',
    errors: [
      {
        status: 'INVALID_ARGUMENT',
        message: 'userId is required.',
        details: {
          missing: [
            'userId',
            'userProperties',
            'userProperties.name',
            'permissions',
            'permissions.resources',
          ],
        },
      },
      reservedName,
      invalidEmail,
      { status: 'INVALID_ARGUMENT', message: 'permissions.resources[0].organizationId is required.' },
      tooLarge,
    ],
    example: {
      input: {
        userId: 'user_1',
        userProperties: { name: 'Ada', email: 'ada@example.com', isAdmin: false },
        permissions: {
          resources: [
            { type: 'organization', id: 'org_1', accessRole: 'viewer' },
            {
              type: 'document',
              id: 'doc_1',
              organizationId: 'org_1',
              accessRole: 'editor',
              expiresAt: 1893456000,
            },
          ],
        },
      },
      output: { token },
    },
  }),
  getToken: operation({
    spec: '7.2',
    path: '/auth/token/get',
    versions: ['v1'],
    access: 'body',
    effect: 'read',
    title: 'Get Token',
    summary: 'Issues a signed token for a user of one organization.',
    description:
      'The v1 form of Generate Token, with the credentials in the body. The user becomes an editor of the organization.',
    input: Type.Object({
      ...bodyCredentials,
      userId: UserId,
      userProperties: described(OrganizationUserProperties, userProperties),
    }),
    output: UserToken,
    message: 'Token generated successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'Auth token not found.' },
      reservedName,
      invalidEmail,
      tooLarge,
    ],
    example: {
      input: {
        apiKey: 'key_1',
        authToken: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJhdWQiOiJrZXlfMSJ9.c2lnbmF0dXJl',
        userId: 'user_1',
        userProperties: { organizationId: 'org_1', isAdmin: false, email: 'ada@example.com' },
      },
      output: { token },
    },
  }),
  generateSignature: operation({
    spec: '7.6',
    path: '/auth/generate_signature',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    title: 'Generate Signature',
    summary: 'Signs what your permission provider answers.',
    description:
      'The permission provider can return the signature beside `data`. The server then denies everything in an answer that does not match its signature. The entries must be those of `data`, in the same order. Their `organizationId` is not signed. Nothing is stored.',
    input: Type.Object({
      permissions: batch(ProviderPermission, 'The entries of the answer, in their order.'),
    }),
    output: Type.Object({
      signature: text('HMAC-SHA-256 of the entries, as 64 lower-case hexadecimal digits.'),
    }),
    message: 'Signature generated successfully.',
    example: {
      input: {
        permissions: [
          {
            userId: 'user_1',
            resourceId: 'doc_1',
            type: 'document',
            hasAccess: true,
            accessRole: 'viewer',
            expiresAt: 1893456000000,
          },
        ],
      },
      output: { signature: 'ba990af863506929dd59940af1f634c2cdf7d9e69ab4dcca1eded6eed3378fcf' },
    },
  }),
}
