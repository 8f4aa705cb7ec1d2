import Type, { type Static } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { AccessRole } from '../base/fields.ts'
import { ChosenId, UserId } from '../base/ids.ts'
import { choice, described, flag, text } from '../base/schemas.ts'

const urlDescription =
  'URL that the server asks with POST, over http or https. Empty: none, and every user is denied while the provider is on.'
const UsePermissionProvider = flag(
  'Whether the permission provider decides who may open documents. Then grants and access types do not apply.',
)

const settingsDescription = 'Where the permission provider is.'

export const PermissionProviderSettings = Type.Object({
  permissionProviderUrl: text(urlDescription),
  authToken: text('Token that the server sends to the provider, masked. Empty if none is set.'),
})

export const PermissionProviderConfig = Type.Object({
  usePermissionProvider: UsePermissionProvider,
  permissionProviderConfig: described(PermissionProviderSettings, settingsDescription),
})
export type PermissionProviderConfig = Static<typeof PermissionProviderConfig>

export const PermissionProviderSettingsInput = Type.Object({
  permissionProviderUrl: Type.Optional(Type.String({ maxLength: 2000, description: urlDescription })),
  authToken: Type.Optional(
    Type.String({
      maxLength: 1000,
      pattern: '^[\\x21-\\x7e]*$',
      'x-invalid': 'must have visible ASCII characters only.',
      description:
        'Token that the server sends to the provider, as `Authorization: Bearer …`. An empty string removes it.',
    }),
  ),
})

export const PermissionProviderConfigInput = Type.Object(
  {
    usePermissionProvider: Type.Optional(UsePermissionProvider),
    permissionProviderConfig: Type.Optional(
      described(
        PermissionProviderSettingsInput,
        `${settingsDescription} Fields that are not sent keep their value.`,
      ),
    ),
  },
  { 'x-conditions': { minProperties: 1 } },
)

const ProviderResourceType = choice(
  ['organization', 'folder', 'document', 'context'],
  'Kind of the resource.',
)
/** The last millisecond that a JavaScript date can name. */
const maxTime = 8.64e15

/** What a permission provider says about a user and a resource, as far as a signature covers it (spec 7.6). */
export const ProviderPermission = Type.Object({
  userId: UserId,
  resourceId: described(ChosenId, 'Id of the resource.'),
  type: ProviderResourceType,
  hasAccess: flag('Whether the user may open the resource.'),
  accessRole: Type.Optional(AccessRole),
  expiresAt: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: maxTime,
      description: 'When the permission expires, as Unix time in milliseconds.',
    }),
  ),
})
export type ProviderPermission = Static<typeof ProviderPermission>

const ProviderResponse = Type.Object({
  data: Type.Array(Type.Object({ ...ProviderPermission.properties, organizationId: ChosenId })),
  success: Type.Literal(true),
  statusCode: Type.Literal(200),
  message: Type.Optional(Type.String()),
  signature: Type.Optional(Type.String()),
})
/** The answer of a permission provider to one request of the server (spec 7.8). */
export type ProviderResponse = Static<typeof ProviderResponse>

// Compiled on first use, so importing the protocol costs nothing.
let compiledResponse: Validator | undefined

/** Whether a permission provider has answered as spec 7.8 says. */
export function isProviderResponse(value: unknown): value is ProviderResponse {
  compiledResponse ??= Compile(ProviderResponse)
  return compiledResponse.Check(value)
}
