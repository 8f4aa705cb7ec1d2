import Type from 'typebox'
import { operation } from '../base/operation.ts'
import { Nothing } from '../resources/outcomes.ts'
import { ClientId, Email, Flag, FullName, PageToken } from '../base/fields.ts'
import { EmailServiceConfigInput, WebhookServiceConfigInput } from '../resources/service-configs.ts'
import { ApiKeySummary, DomainEntry, domainsPerCall, KeyType } from '../resources/workspaces.ts'

const Region = Type.String({
  maxLength: 100,
  pattern: '^[a-z0-9-]+$',
  'x-invalid': 'must consist of lower-case letters, digits and "-".',
})

/** Keys of one page, and ids of one filter (spec 0.5). */
const pageSize = 100

export const apiKeys = {
  create: operation({
    spec: '1.3',
    path: '/workspace/apikey/create',
    versions: ['v2'],
    access: 'workspace',
    effect: 'write',
    title: 'Create API Key',
    summary: 'Creates an API key in the workspace.',
    description:
      'Read its auth token with Get Auth Tokens. A testing key allows `localhost` and `127.0.0.1` unless told otherwise. Regions are kept for reference and have no effect. `defaultDocumentAccessType` is that of the server (`DEFAULT_DOCUMENT_ACCESS`) until Update API Key Config changes it.',
    input: Type.Object({
      ownerEmail: Email,
      type: KeyType,
      apiKeyName: Type.Optional(FullName),
      createAuthToken: Type.Optional(Flag),
      persistenceDBRegion: Type.Optional(Region),
      realtimeDBRegion: Type.Optional(Region),
      allowedDomains: Type.Optional(Type.Array(DomainEntry, { maxItems: domainsPerCall })),
      addLocalHostToAllowedDomains: Type.Optional(Flag),
      useEmailService: Type.Optional(Flag),
      useWebhookService: Type.Optional(Flag),
      useNotificationService: Type.Optional(Flag),
      setDefaultEmailTriggers: Type.Optional(Flag),
      setDefaultNotificationTriggers: Type.Optional(Flag),
      requireAutoOrgUser: Type.Optional(Flag),
      enablePrivateComments: Type.Optional(Flag),
      emailServiceConfig: Type.Optional(EmailServiceConfigInput),
      webhookServiceConfig: Type.Optional(WebhookServiceConfigInput),
    }),
    output: Type.Object({ apiKey: Type.String() }),
    message: 'API key created successfully.',
    errors: [
      { status: 'INVALID_ARGUMENT', message: 'ownerEmail must be a valid email address.' },
      { status: 'INVALID_ARGUMENT', message: 'persistenceDBRegion is for production API keys only.' },
      { status: 'INVALID_ARGUMENT', message: 'Invalid domain: exa mple.com' },
      { status: 'INVALID_ARGUMENT', message: 'Invalid email service configuration.' },
      { status: 'INVALID_ARGUMENT', message: 'Invalid webhook service configuration.' },
      {
        status: 'PERMISSION_DENIED',
        message: 'This workspace is not allowed to create production API keys (LIMIT_PRODUCTION_KEYS).',
      },
      {
        status: 'RESOURCE_EXHAUSTED',
        message:
          'The workspace has reached its maximum number of production API keys (LIMIT_PRODUCTION_KEYS).',
      },
    ],
    example: {
      input: { ownerEmail: 'owner@example.com', type: 'production', allowedDomains: ['https://example.com'] },
      output: { apiKey: 'key_1b8d3q6z5w4f0m2k7c9x' },
    },
  }),
  update: operation({
    spec: '1.4',
    path: '/workspace/apikey/update',
    versions: ['v2'],
    access: 'workspace',
    effect: 'write',
    title: 'Update API Key',
    summary: 'Renames an API key.',
    input: Type.Object({ apiKey: ClientId, apiKeyName: FullName }),
    output: Nothing,
    message: 'API key updated successfully.',
    errors: [{ status: 'NOT_FOUND', message: 'API key not found.' }],
    example: { input: { apiKey: 'key_1b8d3q6z5w4f0m2k7c9x', apiKeyName: 'Staging' }, output: null },
  }),
  get: operation({
    spec: '1.5',
    path: '/workspace/apikeys/get',
    versions: ['v2'],
    access: 'workspace',
    effect: 'read',
    body: 'optional',
    title: 'Get API Keys',
    summary: 'Reads the API keys of the workspace, all or by id.',
    description: 'Ids that do not exist, or are of another workspace, are left out.',
    input: Type.Object({
      apiKeys: Type.Optional(Type.Array(ClientId, { maxItems: pageSize })),
      pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: pageSize })),
      pageToken: Type.Optional(PageToken),
    }),
    output: Type.Array(ApiKeySummary),
    paging: ['nextPageToken'],
    message: 'API keys retrieved successfully.',
    errors: [{ status: 'INVALID_ARGUMENT', message: 'Invalid page token.' }],
    example: {
      input: { pageSize: 10 },
      output: [{ id: 'key_1b8d3q6z5w4f0m2k7c9x', apiKeyName: 'Owner Test API Key', type: 'testing' }],
    },
  }),
}
