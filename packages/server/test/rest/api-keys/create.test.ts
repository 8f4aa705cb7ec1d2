import { type ApiError, defaultTriggers, toGrouped } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { startServer, stores, useServer } from '../../support/harness.ts'

const ownerEmail = 'owner@example.com'

describe.each(stores)('apiKeys.create on %s', (store) => {
  const server = useServer(store)
  type Create = Parameters<given.Tenant['client']['apiKeys']['create']>[0]
  /** Creates a workspace, and in it one more API key from the given input. */
  const created = async (input: Partial<Create> = {}) => {
    const tenant = await given.tenant(server)
    const { data } = await tenant.client.apiKeys.create({ ownerEmail, type: 'testing', ...input })
    return { tenant, ...(await given.keyOf(server, tenant, data.apiKey)) }
  }

  test('[1.3] create returns the id of a working key', async () => {
    const { workspaceId, workspaceAuthToken, client } = await given.tenant(server)
    const headers = { 'x-svc-workspace-id': workspaceId, 'x-svc-auth-token': workspaceAuthToken }
    const data = { ownerEmail, type: 'testing' }
    const { status, body } = await server.post('/v2/workspace/apikey/create', { data }, headers)
    expect(status).toBe(200)
    expect(body).toEqual({
      result: {
        status: 'success',
        message: 'API key created successfully.',
        data: { apiKey: expect.stringMatching(/^key_/) },
      },
    })
    const { apiKey } = body.result.data
    const key = await given.keyOf(server, { workspaceId, workspaceAuthToken }, apiKey)
    await key.client.organizations.get()
    expect((await client.workspace.get()).data.apiKeyList[apiKey]).toEqual({
      apiKeyName: 'Owner Test API Key',
      id: apiKey,
      type: 'testing',
    })
  })

  test('[0.2.1] [1.3] two API keys of one workspace share no data', async () => {
    const { tenant, client, authToken } = await created()
    await tenant.client.organizations.add({ organizations: [{ organizationId: 'o1' }] })
    expect((await client.organizations.get()).data).toEqual([])
    const mixed = server.client({ apiKey: tenant.apiKey, authToken })
    await expect(mixed.organizations.get()).rejects.toMatchObject({ status: 'UNAUTHENTICATED' })
  })

  test.each<[input: Partial<Create>, name: string]>([
    [{}, 'Owner Test API Key'],
    [{ type: 'production' }, 'Owner Production API Key'],
    [{ ownerEmail: 'jane.doe@example.com' }, 'Jane.doe Test API Key'],
    [{ apiKeyName: ' Staging ' }, 'Staging'],
  ])('[1.3] a key created with %j is named %s', async (input, name) => {
    const { apiKey, client } = await created(input)
    expect((await client.apiKeys.get({ apiKeys: [apiKey] })).data).toMatchObject([{ apiKeyName: name }])
  })

  test.each<[input: Partial<Create>, domains: string[]]>([
    [{}, ['localhost', '127.0.0.1']],
    [{ type: 'production' }, []],
    [{ addLocalHostToAllowedDomains: false }, []],
    [{ type: 'production', addLocalHostToAllowedDomains: true }, ['localhost', '127.0.0.1']],
    [
      { allowedDomains: ['https://www.a.dev/x', '*.b.dev', 'A.dev', 'localhost'] },
      ['localhost', '127.0.0.1', 'a.dev', '*.b.dev'],
    ],
    [{ type: 'production', allowedDomains: ['a.dev'] }, ['a.dev']],
    [{ allowedDomains: [] }, ['localhost', '127.0.0.1']],
  ])('[1.3] a key created with %j allows the domains %j', async (input, allowedDomains) => {
    const { client } = await created(input)
    expect((await client.domains.get()).data).toEqual({ allowedDomains })
  })

  test('[1.3] create stores the options of the request and defaults for the others', async () => {
    const defaults = {
      ownerEmail,
      planInfo: { type: 'sdk test' },
      defaultDocumentAccessType: 'public',
      documentCreation: 'clients',
      isPrivateCommentsEnabled: false,
      requireJwtToken: false,
      requireAutoOrgUser: true,
      useAdvancedQueries: true,
      useNotificationService: true,
    }
    expect((await (await created()).client.apiKeyConfig.get()).data).toEqual(defaults)
    const { client } = await created({
      requireAutoOrgUser: false,
      enablePrivateComments: true,
      useNotificationService: false,
    })
    expect((await client.apiKeyConfig.get()).data).toEqual({
      ...defaults,
      isPrivateCommentsEnabled: true,
      requireAutoOrgUser: false,
      useNotificationService: false,
    })
  })

  test('[1.3] create with createAuthToken: false creates a key without a token', async () => {
    const { authToken, apiKey, tenant } = await created({ createAuthToken: false })
    expect(authToken).toBe('')
    expect((await tenant.client.authTokens.get({ apiKey })).data.authTokens).toEqual([])
  })

  test('[1.3] create configures the email service of the key', async () => {
    const emailServiceConfig = {
      type: 'sendgrid' as const,
      apiKey: 'SG.1234567890abc',
      fromEmail: 'a@example.com',
      commentTemplateId: 'd-1',
      tagTemplateId: 'd-2',
      triggers: { 'comment.add': false },
    }
    const stored = { ...emailServiceConfig, apiKey: 'SG....abc', fromCompany: '' }
    const { client } = await created({ useEmailService: true, emailServiceConfig })
    expect((await client.emailConfig.get()).data).toEqual({
      useEmailService: true,
      emailServiceConfig: stored,
    })

    const seeded = await created({
      useEmailService: true,
      emailServiceConfig,
      setDefaultEmailTriggers: true,
    })
    expect((await seeded.client.emailConfig.get()).data).toEqual({
      useEmailService: true,
      emailServiceConfig: { ...stored, triggers: { ...defaultTriggers.email, 'comment.add': false } },
    })
  })

  test('[1.3] create sets the default email triggers only if setDefaultEmailTriggers is sent and the email service is on', async () => {
    const on = await created({ useEmailService: true })
    expect((await on.client.emailConfig.get()).data.emailServiceConfig).not.toHaveProperty('triggers')
    const off = await created({ setDefaultEmailTriggers: true })
    expect((await off.client.emailConfig.get()).data).toMatchObject({ useEmailService: false })
    expect((await off.client.emailConfig.get()).data.emailServiceConfig).not.toHaveProperty('triggers')
  })

  test('[1.3] create configures the webhook and notification services of the key', async () => {
    const { apiKey, client } = await created({
      useWebhookService: true,
      webhookServiceConfig: {
        authToken: 'hook-token',
        rawNotificationUrl: 'https://example.com/raw',
        triggers: { comment: { added: false }, 'crdt.update_data': true },
      },
      setDefaultNotificationTriggers: true,
    })
    expect((await client.webhookConfig.get()).data).toEqual({
      useWebhookService: true,
      webhookServiceConfig: {
        authToken: '...',
        rawNotificationUrl: 'https://example.com/raw',
        processedNotificationUrl: '',
        enableDataProtection: false,
        triggers: { ...defaultTriggers.webhook, 'comment.add': false, 'crdt.update_data': true },
      },
    })
    const { secret } = await server.database.read
      .selectFrom('service_configs')
      .select('secret')
      .where('api_key', '=', apiKey)
      .where('service', '=', 'webhook')
      .executeTakeFirstOrThrow()
    const context = `service_configs/${apiKey}/webhook`
    expect(server.secrets.unseal(secret!, context).toString()).toBe('hook-token')
    // An update answers what is stored, without defaults.
    const { data } = await client.notificationServiceConfig.update({ useNotificationService: true })
    expect(data.notificationServiceConfig).toEqual({ triggers: toGrouped(defaultTriggers.notification) })
  })

  test.each<[data: object, message: string]>([
    [{ type: 'testing' }, 'ownerEmail is required.'],
    [{ ownerEmail: ' ', type: 'testing' }, 'ownerEmail is required.'],
    [{ ownerEmail: 'nobody', type: 'testing' }, 'ownerEmail must be a valid email address.'],
    [{ ownerEmail }, 'type is required.'],
    [{ ownerEmail, type: 'staging' }, 'type must be one of: testing, production.'],
    [{ ownerEmail, type: 'testing', apiKeyName: ' ' }, 'apiKeyName must not be blank.'],
    [
      { ownerEmail, type: 'testing', apiKeyName: 'x'.repeat(201) },
      'apiKeyName must have at most 200 characters.',
    ],
    [{ ownerEmail, type: 'testing', createAuthToken: 1 }, 'createAuthToken must be a boolean.'],
    [
      { ownerEmail, type: 'production', persistenceDBRegion: '' },
      'persistenceDBRegion must consist of lower-case letters, digits and "-".',
    ],
    [
      { ownerEmail, type: 'production', realtimeDBRegion: 'EU West' },
      'realtimeDBRegion must consist of lower-case letters, digits and "-".',
    ],
    [
      { ownerEmail, type: 'testing', persistenceDBRegion: 'eu-west-1' },
      'persistenceDBRegion is for production API keys only.',
    ],
    [
      { ownerEmail, type: 'testing', realtimeDBRegion: 'eu-west-1' },
      'realtimeDBRegion is for production API keys only.',
    ],
    [{ ownerEmail, type: 'testing', allowedDomains: 'a.dev' }, 'allowedDomains must be an array.'],
    [{ ownerEmail, type: 'testing', allowedDomains: ['a.dev', 'b dev'] }, 'Invalid domain: b dev'],
    [
      { ownerEmail, type: 'testing', allowedDomains: Array.from({ length: 101 }, () => 'a.dev') },
      'allowedDomains must have at most 100 items.',
    ],
    [
      { ownerEmail, type: 'testing', emailServiceConfig: { triggers: { unknown: true } } },
      'Invalid email service configuration.',
    ],
    [
      { ownerEmail, type: 'testing', useEmailService: true, emailServiceConfig: { type: 'sendgrid' } },
      'Invalid email service configuration.',
    ],
    [
      { ownerEmail, type: 'testing', webhookServiceConfig: { rawNotificationUrl: 'ftp://example.com' } },
      'Invalid webhook service configuration.',
    ],
    [
      { ownerEmail, type: 'testing', webhookServiceConfig: { encryptData: true } },
      'Invalid webhook service configuration.',
    ],
  ])('[1.3] [0.3] create refuses %j', async (data, message) => {
    const { client } = await given.tenant(server)
    await expect(client.apiKeys.create(data as Create)).rejects.toMatchObject({
      httpStatus: 400,
      status: 'INVALID_ARGUMENT',
      message,
    })
    expect((await client.apiKeys.get()).data).toHaveLength(1)
  })

  test('[1.3] create accepts regions for a production key', async () => {
    const { apiKey, client } = await created({
      type: 'production',
      persistenceDBRegion: 'eu-west-1',
      realtimeDBRegion: 'us-1',
    })
    expect((await client.apiKeys.get({ apiKeys: [apiKey] })).data).toMatchObject([{ type: 'production' }])
  })

  test('[1.3] a workspace gets at most ten production keys, also when concurrent calls ask for more', async () => {
    const { client } = await given.tenant(server)
    const create = () => client.apiKeys.create({ ownerEmail, type: 'production' })
    for (let count = 0; count < 7; count++) await create()
    const answers = await Promise.allSettled(Array.from({ length: 5 }, create))
    const refused = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason as ApiError] : []))
    expect(refused).toHaveLength(2)
    for (const error of refused) {
      expect(error).toMatchObject({
        httpStatus: 429,
        status: 'RESOURCE_EXHAUSTED',
        message:
          'The workspace has reached its maximum number of production API keys (LIMIT_PRODUCTION_KEYS).',
      })
    }
    await client.apiKeys.create({ ownerEmail, type: 'testing' })
  })

  test('[1.3] a server with LIMIT_PRODUCTION_KEYS=0 refuses to create production keys', async () => {
    const closed = await startServer(store, { env: { LIMIT_PRODUCTION_KEYS: '0' } })
    try {
      const { client } = await given.tenant(closed)
      await expect(client.apiKeys.create({ ownerEmail, type: 'production' })).rejects.toMatchObject({
        httpStatus: 403,
        status: 'PERMISSION_DENIED',
        message: 'This workspace is not allowed to create production API keys (LIMIT_PRODUCTION_KEYS).',
      })
      await client.apiKeys.create({ ownerEmail, type: 'testing' })
    } finally {
      await closed.stop()
    }
  })

  test.each([
    [{}, 'public', 'clients'],
    [{ DEFAULT_DOCUMENT_ACCESS: 'organizationPrivate' }, 'organizationPrivate', 'clients'],
    [
      { DEFAULT_DOCUMENT_ACCESS: 'restricted', DEFAULT_DOCUMENT_CREATION: 'backends' },
      'restricted',
      'backends',
    ],
  ] as const)(
    '[1.1.3] [1.3] with %j the first and later keys have the default document access %s, and documents are created by %s',
    async (env, type, documentCreation) => {
      const other = await startServer(store, { env })
      try {
        const tenant = await given.tenant(other)
        const { data } = await tenant.client.apiKeys.create({ ownerEmail, type: 'production' })
        const further = await given.keyOf(other, tenant, data.apiKey)
        for (const { client } of [tenant, further]) {
          const options = { defaultDocumentAccessType: type, documentCreation }
          expect((await client.apiKeyConfig.get()).data).toMatchObject(options)
        }
        await further.client.apiKeyConfig.update({ defaultDocumentAccessType: 'public' })
        expect((await further.client.apiKeyConfig.get()).data).toMatchObject({
          defaultDocumentAccessType: 'public',
        })
      } finally {
        await other.stop()
      }
    },
  )

  test('[I1] create with a repeated Idempotency-Key creates one API key', async () => {
    const { client } = await given.tenant(server)
    const create = () => client.apiKeys.create({ ownerEmail, type: 'testing' }, { idempotencyKey: 'one-key' })
    expect(await create()).toEqual(await create())
    expect((await client.apiKeys.get()).data).toHaveLength(2)
  })
})
