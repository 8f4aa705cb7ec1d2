import { operation } from '../base/operation.ts'
import { NoInput } from '../resources/outcomes.ts'
import { ApiKeyConfig, ApiKeyOptions } from '../resources/workspaces.ts'

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
    input: NoInput,
    output: ApiKeyConfig,
    message: 'API key metadata retrieved successfully.',
    example: {
      input: {},
      output: {
        ownerEmail: 'owner@example.com',
        planInfo: { type: 'sdk test' },
        defaultDocumentAccessType: 'public',
        documentCreation: 'clients',
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
      'Only the sent options change, and the answer has only these. Unlike other operations, this one refuses unknown fields. `enablePrivateComments` is named `isPrivateCommentsEnabled` when it is read.',
    input: ApiKeyOptions,
    output: ApiKeyOptions,
    message: 'API key configuration updated successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'At least one field must be provided for update' }],
    example: { input: { requireJwtToken: true }, output: { requireJwtToken: true } },
  }),
}
