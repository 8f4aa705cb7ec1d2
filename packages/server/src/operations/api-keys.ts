import { ApiError, defaultTriggers, type Operations, toGrouped } from '@plenum/protocol'
import { writeSettings } from '../access/credentials/service-settings.ts'
import type { Call, Handlers } from '../calls/call.ts'
import { reply } from '../calls/answers/reply.ts'
import * as apiKeys from '../store/api-keys.ts'
import * as notificationService from '../store/notifications/service-config.ts'
import { unique } from './shared/batches.ts'
import { normalizeAllNew } from './shared/allowed-domains.ts'
import { changeEmail, noEmailSettings } from './shared/email-settings.ts'
import { createKey, readOwnerEmail } from './shared/new-key.ts'
import { changeWebhook, noWebhookSettings } from './shared/webhook-settings.ts'

type CreateCall = Call<Operations['apiKeys']['create']>

export const apiKeyHandlers: Handlers<Operations['apiKeys']> = {
  async create(call) {
    const {
      input,
      caller,
      db,
      now,
      services: { newKeyOptions },
    } = call
    const ownerEmail = readOwnerEmail(input.ownerEmail)
    const { type, persistenceDBRegion, realtimeDBRegion } = input
    for (const [field, region] of Object.entries({ persistenceDBRegion, realtimeDBRegion })) {
      if (region !== undefined && type !== 'production') {
        throw new ApiError('INVALID_ARGUMENT', `${field} is for production API keys only.`)
      }
    }
    const domains = normalizeAllNew(input.allowedDomains ?? [])
    if (type === 'production') await admitProductionKey(call)
    const apiKey = await createKey(
      db,
      {
        workspaceId: caller.workspaceId,
        type,
        ownerEmail,
        ...(input.apiKeyName !== undefined && { name: input.apiKeyName.trim() }),
        options: {
          ...newKeyOptions,
          enablePrivateComments: input.enablePrivateComments ?? false,
          requireAutoOrgUser: input.requireAutoOrgUser ?? true,
          useNotificationService: input.useNotificationService ?? true,
          ...(persistenceDBRegion !== undefined && { persistenceDBRegion }),
          ...(realtimeDBRegion !== undefined && { realtimeDBRegion }),
        },
        localHost: input.addLocalHostToAllowedDomains ?? type === 'testing',
        domains,
        authToken: input.createAuthToken ?? true,
      },
      now,
    )
    await configureServices(call, apiKey)
    return { apiKey }
  },

  async update({ input: { apiKey, apiKeyName }, caller, db, afterCommit, services: { credentials } }) {
    if (!(await apiKeys.rename(db, caller.workspaceId, apiKey, apiKeyName.trim()))) {
      throw new ApiError('NOT_FOUND', 'API key not found.')
    }
    afterCommit(() => credentials.drop(apiKey))
    return null
  },

  async get({ input, caller, db, pages }) {
    const wanted = pages.requested({ ...input }, 100)
    const rows = await apiKeys.list(db, caller.workspaceId, {
      ...(input.apiKeys && { ids: unique(input.apiKeys) }),
      limit: wanted.size + 1,
      after: wanted.after,
    })
    const { items, nextPageToken } = pages.withNextToken(rows, wanted, ({ createdAt, apiKey }) => [
      createdAt,
      apiKey,
    ])
    return reply(
      items.map(({ apiKey, name, type }) => ({ id: apiKey, apiKeyName: name, type })),
      { extra: { nextPageToken } },
    )
  },
}

async function admitProductionKey({
  caller: { workspaceId },
  db,
  services: { limits, lock },
}: CreateCall): Promise<void> {
  if (limits.productionKeysPerWorkspace === 0) {
    throw new ApiError(
      'PERMISSION_DENIED',
      'This workspace is not allowed to create production API keys (LIMIT_PRODUCTION_KEYS).',
    )
  }
  await lock(db, `production-keys/${workspaceId}`)
  if ((await apiKeys.countProduction(db, workspaceId)) >= limits.productionKeysPerWorkspace) {
    throw new ApiError(
      'RESOURCE_EXHAUSTED',
      'The workspace has reached its maximum number of production API keys (LIMIT_PRODUCTION_KEYS).',
    )
  }
}

/** Stores the settings of the services that the input configures. The other services keep their defaults. */
async function configureServices({ db, input, services }: CreateCall, apiKey: string): Promise<void> {
  const { secrets, isWebhookUrl } = services
  const {
    useEmailService = false,
    emailServiceConfig,
    useWebhookService = false,
    webhookServiceConfig,
  } = input
  if (useEmailService || emailServiceConfig) {
    const defaults = input.setDefaultEmailTriggers ?? false
    const email = changeEmail(noEmailSettings, { useEmailService, emailServiceConfig }, { defaults })
    await writeSettings(db, secrets, apiKey, 'email', email)
  }
  if (useWebhookService || webhookServiceConfig) {
    const change = { useWebhookService, webhookServiceConfig }
    const webhook = changeWebhook(noWebhookSettings, change, { isWebhookUrl, defaults: true })
    await writeSettings(db, secrets, apiKey, 'webhook', webhook)
  }
  if (input.setDefaultNotificationTriggers && (input.useNotificationService ?? true)) {
    await notificationService.save(db, apiKey, { triggers: toGrouped(defaultTriggers.notification) })
  }
}
