import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const nothing = {
  error: { status: 'INVALID_ARGUMENT', message: 'At least one field must be provided for update' },
}

describe.each(stores)('api key config on %s', (store) => {
  const server = useServer(store)
  const defaults = {
    ownerEmail: expect.any(String),
    planInfo: { type: 'sdk test' },
    defaultDocumentAccessType: 'public',
    documentCreation: 'clients',
    isPrivateCommentsEnabled: false,
    requireJwtToken: false,
    requireAutoOrgUser: true,
    useAdvancedQueries: true,
    useNotificationService: true,
  }

  test.each(['apikeyconfig', 'apikeymetadata'])(
    '[1.8] [0.1.2] get returns the options at %s when the request has no body',
    async (name) => {
      const { headers } = await given.tenant(server)
      expect(await server.post(`/v2/workspace/${name}/get`, '', headers)).toMatchObject({
        status: 200,
        body: {
          result: { status: 'success', message: 'API key metadata retrieved successfully.', data: defaults },
        },
      })
    },
  )

  test('[1.8] get returns the plan of a production key', async () => {
    const tenant = await given.tenant(server)
    const { data } = await tenant.client.apiKeys.create({ ownerEmail: 'P@example.com', type: 'production' })
    const { client } = await given.keyOf(server, tenant, data.apiKey)
    expect((await client.apiKeyConfig.get()).data).toEqual({
      ...defaults,
      ownerEmail: 'p@example.com',
      planInfo: { type: 'sdk production' },
    })
  })

  test('[1.9] update changes the options in the request and returns only those', async () => {
    const { client } = await given.tenant(server)
    expect(
      await client.apiKeyConfig.update({ requireJwtToken: true, defaultDocumentAccessType: 'restricted' }),
    ).toEqual({
      message: 'API key configuration updated successfully.',
      data: { requireJwtToken: true, defaultDocumentAccessType: 'restricted' },
    })
    expect((await client.apiKeyConfig.update({ enablePrivateComments: true })).data).toEqual({
      enablePrivateComments: true,
    })
    expect((await client.apiKeyConfig.get()).data).toEqual({
      ...defaults,
      requireJwtToken: true,
      defaultDocumentAccessType: 'restricted',
      isPrivateCommentsEnabled: true,
    })
  })

  test('[1.9] update can change every option', async () => {
    const { client } = await given.tenant(server)
    const options = {
      enablePrivateComments: true,
      requireJwtToken: true,
      requireAutoOrgUser: false,
      defaultDocumentAccessType: 'organizationPrivate' as const,
      useAdvancedQueries: false,
      useNotificationService: false,
    }
    expect((await client.apiKeyConfig.update(options)).data).toEqual(options)
    const { enablePrivateComments, ...same } = options
    expect((await client.apiKeyConfig.get()).data).toEqual({
      ...defaults,
      ...same,
      isPrivateCommentsEnabled: enablePrivateComments,
    })
  })

  test('[1.9] update returns an option even when its value did not change', async () => {
    const { client } = await given.tenant(server)
    expect((await client.apiKeyConfig.update({ enablePrivateComments: false })).data).toEqual({
      enablePrivateComments: false,
    })
    expect((await client.apiKeyConfig.get()).data).toEqual(defaults)
  })

  test.each<[fault: string, data: object]>([
    ['data without a field', {}],
    ['an unknown field', { colour: 'red' }],
    ['an unknown field beside a known one', { requireJwtToken: true, colour: 'red' }],
    [
      'API keys of AI models, which this server does not use',
      { aiModelApiKey: [{ provider: 'x', apiKey: 'y' }] },
    ],
    ['the name that get uses for a field', { isPrivateCommentsEnabled: true }],
    ['a field that only the server sets', { ownerEmail: 'me@example.com' }],
  ])('[1.9] update refuses %s', async (_fault, data) => {
    const { client, headers } = await given.tenant(server)
    expect(await server.post('/v2/workspace/apikeyconfig/update', { data }, headers)).toMatchObject({
      status: 400,
      body: nothing,
    })
    expect((await client.apiKeyConfig.get()).data).toEqual(defaults)
  })

  test.each<[data: object, message: string]>([
    [{ requireJwtToken: 'yes' }, 'requireJwtToken must be a boolean.'],
    [{ useAdvancedQueries: null }, 'useAdvancedQueries must be a boolean.'],
    [
      { defaultDocumentAccessType: 'secret' },
      'defaultDocumentAccessType must be one of: public, restricted, organizationPrivate.',
    ],
  ])('[1.9] [0.3] update names the faulty field of %j', async (data, message) => {
    const { client, headers } = await given.tenant(server)
    expect(await server.post('/v2/workspace/apikeyconfig/update', { data }, headers)).toMatchObject({
      status: 400,
      body: { error: { status: 'INVALID_ARGUMENT', message } },
    })
    expect((await client.apiKeyConfig.get()).data).toEqual(defaults)
  })

  test('[0.9] [4.9] Get Organizations is refused while advanced queries are off and works again once they are on', async () => {
    const { client } = await given.tenant(server)
    await client.organizations.get()
    await client.apiKeyConfig.update({ useAdvancedQueries: false })
    await expect(client.organizations.get()).rejects.toMatchObject({
      httpStatus: 400,
      status: 'FAILED_PRECONDITION',
      message:
        'Advanced queries are not enabled for this API key. Set useAdvancedQueries to true with /v2/workspace/apikeyconfig/update.',
    })
    await client.organizations.add({ organizations: [{ organizationId: 'o1' }] })
    await client.apiKeyConfig.update({ useAdvancedQueries: true })
    expect((await client.organizations.get()).data).toMatchObject([{ id: 'o1' }])
  })

  test('[0.2.1] two API keys have separate options', async () => {
    const tenant = await given.tenant(server)
    const { data } = await tenant.client.apiKeys.create({ ownerEmail: 'o@example.com', type: 'testing' })
    const second = await given.keyOf(server, tenant, data.apiKey)
    await tenant.client.apiKeyConfig.update({ useAdvancedQueries: false })
    expect((await second.client.apiKeyConfig.get()).data).toEqual(defaults)
    await second.client.organizations.get()
  })

  test('[1.9] concurrent updates of different options are all stored', async () => {
    const { client } = await given.tenant(server)
    await Promise.all([
      client.apiKeyConfig.update({ requireJwtToken: true }),
      client.apiKeyConfig.update({ requireAutoOrgUser: false }),
      client.apiKeyConfig.update({ enablePrivateComments: true }),
    ])
    expect((await client.apiKeyConfig.get()).data).toEqual({
      ...defaults,
      requireJwtToken: true,
      requireAutoOrgUser: false,
      isPrivateCommentsEnabled: true,
    })
  })
})
