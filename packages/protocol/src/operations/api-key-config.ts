import Type from 'typebox'
import { operation } from '../base/operation.ts'
import { AccessType, Flag } from '../base/fields.ts'

const Options = Type.Object({
  enablePrivateComments: Type.Optional(Flag),
  requireJwtToken: Type.Optional(
    Type.Boolean({ description: 'Stored, and changes nothing: clients always need a valid user token.' }),
  ),
  requireAutoOrgUser: Type.Optional(Flag),
  defaultDocumentAccessType: Type.Optional(AccessType),
  useAdvancedQueries: Type.Optional(Flag),
  useNotificationService: Type.Optional(Flag),
})

export const apiKeyConfig = {
  get: operation({
    spec: '1.8',
    path: '/workspace/apikeyconfig/get',
    aliases: ['/workspace/apikeymetadata/get'],
    versions: ['v2'],
    access: 'apiKey',
    effect: 'read',
    body: 'optional',
    title: 'Get API Key Config',
    summary: 'Reads the options of the API key.',
    input: Type.Object({}),
    output: Type.Object({
      ownerEmail: Type.String(),
      planInfo: Type.Object({ type: Type.String() }),
      defaultDocumentAccessType: AccessType,
      isPrivateCommentsEnabled: Type.Boolean(),
      requireJwtToken: Type.Boolean(),
      requireAutoOrgUser: Type.Boolean(),
      useAdvancedQueries: Type.Boolean(),
      useNotificationService: Type.Boolean(),
    }),
    message: 'API key metadata retrieved successfully.',
    example: {
      input: {},
      output: {
        ownerEmail: 'owner@example.com',
        planInfo: { type: 'sdk test' },
        defaultDocumentAccessType: 'public',
        isPrivateCommentsEnabled: false,
        requireJwtToken: false,
        requireAutoOrgUser: true,
        useAdvancedQueries: true,
        useNotificationService: true,
      },
    },
  }),
  update: operation({
    spec: '1.9',
    path: '/workspace/apikeyconfig/update',
    versions: ['v2'],
    access: 'apiKey',
    effect: 'write',
    changesAccess: 'everybody',
    title: 'Update API Key Config',
    summary: 'Changes options of the API key.',
    description:
      'Only the sent options change, and only they are answered. Unlike elsewhere, an unknown field refuses the call. `enablePrivateComments` is read as `isPrivateCommentsEnabled`.',
    input: Options,
    output: Options,
    message: 'API key configuration updated successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'At least one field must be provided for update' }],
    example: { input: { requireJwtToken: true }, output: { requireJwtToken: true } },
  }),
}
