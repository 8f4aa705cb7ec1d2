import Type from 'typebox'
import { emailAddress, nonBlankName, PageToken } from '../base/fields.ts'
import { ApiKeyId, ChosenId } from '../base/ids.ts'
import { operation } from '../base/operation.ts'
import { described, flag } from '../base/schemas.ts'
import { NoData } from '../resources/outcomes.ts'
import {
  EmailServiceConfigInput,
  emailServiceDescription,
  UseEmailService,
  UseWebhookService,
  WebhookServiceConfigInput,
  webhookServiceDescription,
} from '../resources/service-configs.ts'
import {
  AllowedDomains,
  ApiKeySummary,
  EnablePrivateComments,
  KeyType,
  NewApiKey,
  RequireAutoOrgUser,
  UseNotificationService,
} from '../resources/workspaces.ts'

const region = (description: string) =>
  Type.String({
    maxLength: 100,
    pattern: '^[a-z0-9-]+$',
    'x-invalid': 'must consist of lower-case letters, digits and "-".',
    description,
  })

const apiKeyName = 'Display name of the API key.'

/** Limits the API keys of one page, and the ids of one filter (spec 0.5). */
const maxPageSize = 100

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
      'Read its auth token with Get Auth Tokens. Regions are stored without effect. `defaultDocumentAccessType` starts as the server setting `DEFAULT_DOCUMENT_ACCESS`; change it with Update API Key Config.',
    input: Type.Object({
      ownerEmail: emailAddress('Email address of the owner.'),
      type: KeyType,
      apiKeyName: Type.Optional(nonBlankName(`${apiKeyName} Default: derived from \`ownerEmail\`.`)),
      createAuthToken: Type.Optional(flag('Whether to create an auth token for the API key. Default: true.')),
      persistenceDBRegion: Type.Optional(region('Region of stored data. Stored without effect.')),
      realtimeDBRegion: Type.Optional(region('Region of live data. Stored without effect.')),
      allowedDomains: Type.Optional(AllowedDomains),
      addLocalHostToAllowedDomains: Type.Optional(
        flag('Whether to allow `localhost` and `127.0.0.1`. Default: true for a testing key.'),
      ),
      useEmailService: Type.Optional(UseEmailService),
      useWebhookService: Type.Optional(UseWebhookService),
      useNotificationService: Type.Optional(
        described(UseNotificationService, 'Whether notifications can be added and read. Default: true.'),
      ),
      setDefaultEmailTriggers: Type.Optional(
        flag('Whether the email service starts with the default triggers. Default: false.'),
      ),
      setDefaultNotificationTriggers: Type.Optional(
        flag(
          'Whether the default triggers of the notification service are stored now. They apply without this too, until triggers are set. Default: false.',
        ),
      ),
      requireAutoOrgUser: Type.Optional(RequireAutoOrgUser),
      enablePrivateComments: Type.Optional(EnablePrivateComments),
      emailServiceConfig: Type.Optional(described(EmailServiceConfigInput, emailServiceDescription)),
      webhookServiceConfig: Type.Optional(described(WebhookServiceConfigInput, webhookServiceDescription)),
    }),
    output: NewApiKey,
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
    input: Type.Object({ apiKey: ApiKeyId, apiKeyName: nonBlankName(apiKeyName) }),
    output: NoData,
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
    description: 'Ids that do not exist or belong to another workspace are left out.',
    input: Type.Object({
      apiKeys: Type.Optional(
        Type.Array(ChosenId, {
          maxItems: maxPageSize,
          description: 'Ids of the API keys to read. Default: all.',
        }),
      ),
      pageSize: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: maxPageSize,
          description: 'Maximum number of items on the page.',
        }),
      ),
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
