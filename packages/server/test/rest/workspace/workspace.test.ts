import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const create = '/v2/workspace/create'
const jwt = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)
const invalid = (message: string) => ({ error: { status: 'INVALID_ARGUMENT', message } })

describe.each(stores)('workspace on %s', (store) => {
  const server = useServer(store)

  test('[4.4] create returns the workspace with its first credentials', async () => {
    const data = {
      ownerEmail: 'Jane.Doe@Example.com',
      name: 'Jane Doe',
      workspaceName: 'My Workspace',
      avatar: 'https://example.com/jane.png',
    }
    const { status, body } = await server.post(create, { data })
    expect(status).toBe(200)
    const [apiKey = ''] = Object.keys(body.result.data.apiKeyList)
    expect(apiKey).toMatch(/^key_/)
    expect(body).toEqual({
      result: {
        status: 'success',
        message: 'Workspace created successfully',
        data: {
          id: expect.stringMatching(/^ws_/),
          name: 'My Workspace',
          owner: {
            email: 'jane.doe@example.com',
            id: expect.stringMatching(/^own_/),
            name: 'Jane Doe',
            avatar: 'https://example.com/jane.png',
          },
          authToken: jwt,
          apiKeyList: { [apiKey]: { apiKeyName: 'Jane.doe Test API Key', id: apiKey, type: 'testing' } },
        },
      },
    })
  })

  test('[4.4] the credentials from create give access to the workspace and to its API key', async () => {
    const { data: workspace } = await server.client().workspace.create({ ownerEmail: 'opens@example.com' })
    const credentials = { workspaceId: workspace.id, workspaceAuthToken: workspace.authToken }
    const [apiKey = ''] = Object.keys(workspace.apiKeyList)
    const { data } = await server.client(credentials).authTokens.get({ apiKey })
    expect(data).toEqual({ apiKey, authTokens: [{ token: jwt, name: 'Default Auth Token', domains: [] }] })
    const client = server.client({ apiKey, authToken: data.authTokens[0]?.token ?? '' })
    expect((await client.organizations.get()).data).toEqual([])
  })

  test.each(['x@mailinator.com', 'x@MAILINATOR.com', 'x@sub.mailinator.com'])(
    '[4.4] [1.1.5] create refuses the disposable domain of %s',
    async (ownerEmail) => {
      expect(await server.post(create, { data: { ownerEmail } })).toMatchObject({
        status: 400,
        body: invalid('Disposable email domains are not allowed.'),
      })
    },
  )

  test('[1.1] create requires neither names nor an avatar, and derives missing names', async () => {
    expect((await server.client().workspace.create({ ownerEmail: 'bare@example.com' })).data).toMatchObject({
      name: 'bare@example.com workspace',
      owner: { email: 'bare@example.com', name: 'bare@example.com', avatar: '' },
    })
    const named = await server.client().workspace.create({
      ownerEmail: 'bare@example.com',
      name: ' Bo ',
      avatar: '',
    })
    expect(named.data).toMatchObject({ name: 'Bo workspace', owner: { name: 'Bo', avatar: '' } })
  })

  test('[1.1] [1.1.3] the first API key allows the domains localhost and 127.0.0.1 and has the default options', async () => {
    const { client } = await given.tenant(server)
    expect((await client.domains.get()).data).toEqual({ allowedDomains: ['localhost', '127.0.0.1'] })
    expect((await client.apiKeyConfig.get()).data).toEqual({
      ownerEmail: expect.stringMatching(/^owner\d+@example\.com$/),
      planInfo: { type: 'sdk test' },
      defaultDocumentAccessType: 'public',
      documentCreation: 'clients',
      isPrivateCommentsEnabled: false,
      requireJwtToken: false,
      requireAutoOrgUser: true,
      useAdvancedQueries: true,
      useNotificationService: true,
    })
    expect((await client.emailConfig.get()).data.useEmailService).toBe(false)
  })

  test.each<[fault: string, data: unknown, message: string]>([
    ['a body without data', undefined, 'data is required.'],
    ['data that is a list', [], 'data is required.'],
    ['data without an email', {}, 'ownerEmail is required.'],
    ['a blank email', { ownerEmail: '  ' }, 'ownerEmail is required.'],
    ['an email of another type', { ownerEmail: 5 }, 'ownerEmail must be a string.'],
    ['an invalid email', { ownerEmail: 'nobody' }, 'ownerEmail must be a valid email address.'],
    ['a blank name', { ownerEmail: 'a@example.com', name: ' ' }, 'name must not be blank.'],
    ['an empty name', { ownerEmail: 'a@example.com', name: '' }, 'name must not be blank.'],
    [
      'a long name',
      { ownerEmail: 'a@example.com', name: 'x'.repeat(201) },
      'name must have at most 200 characters.',
    ],
    [
      'a blank workspace name',
      { ownerEmail: 'a@example.com', workspaceName: '' },
      'workspaceName must not be blank.',
    ],
    [
      'a long workspace name',
      { ownerEmail: 'a@example.com', workspaceName: 'x'.repeat(201) },
      'workspaceName must have at most 200 characters.',
    ],
    [
      'a long workspace name beside a name of 200 emoji',
      { ownerEmail: 'a@example.com', name: '😀'.repeat(200), workspaceName: 'x'.repeat(201) },
      'workspaceName must have at most 200 characters.',
    ],
    [
      'an avatar that is not a URL',
      { ownerEmail: 'a@example.com', avatar: 'me.png' },
      'avatar must be a valid http(s) URL.',
    ],
    [
      'an avatar that is a script',
      { ownerEmail: 'a@example.com', avatar: 'javascript:alert(1)' },
      'avatar must be a valid http(s) URL.',
    ],
    [
      'a long avatar',
      { ownerEmail: 'a@example.com', avatar: `https://example.com/${'x'.repeat(2000)}` },
      'avatar must have at most 2000 characters.',
    ],
  ])('[1.1] [0.3] create refuses %s', async (_fault, data, message) => {
    expect(await server.post(create, { data })).toMatchObject({ status: 400, body: invalid(message) })
  })

  test('[1.1.1] [1.1.6] an owner can create at most five workspaces, however the email address is spelled', async () => {
    for (let count = 0; count < 5; count++)
      await server.client().workspace.create({ ownerEmail: 'five@example.com' })
    expect(await server.post(create, { data: { ownerEmail: ' FIVE@Example.com' } })).toMatchObject({
      status: 429,
      body: {
        error: {
          status: 'RESOURCE_EXHAUSTED',
          message: 'You have reached the maximum number of workspaces allowed for this email address.',
        },
      },
    })
    await server.client().workspace.create({ ownerEmail: 'six@example.com' })
  })

  test('[1.1.1] five of eight concurrent calls that create a workspace for one owner succeed', async () => {
    const calls = Array.from({ length: 8 }, () =>
      server.post(create, { data: { ownerEmail: 'race@example.com' } }),
    )
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(3)
  })

  test('[I1] create with a repeated Idempotency-Key returns the workspace that the first call created', async () => {
    const options = { idempotencyKey: 'the-same-workspace' }
    const first = await server.client().workspace.create({ ownerEmail: 'once@example.com' }, options)
    const second = await server.client().workspace.create({ ownerEmail: 'once@example.com' }, options)
    expect(second).toEqual(first)
  })

  test('[1.1] create exists under v2 only', async () => {
    expect(
      await server.post('/v1/workspace/create', { data: { ownerEmail: 'v1@example.com' } }),
    ).toMatchObject({
      status: 404,
      body: { error: { status: 'NOT_FOUND', message: 'Not found.' } },
    })
  })

  test('[1.2] get returns the same workspace as create', async () => {
    const { data: created } = await server
      .client()
      .workspace.create({ ownerEmail: 'reader@example.com', name: 'R' })
    const client = server.client({ workspaceId: created.id, workspaceAuthToken: created.authToken })
    expect(await client.workspace.get()).toEqual({
      message: 'Workspace retrieved successfully',
      data: created,
    })
  })

  test('[1.2] get requires a data object', async () => {
    const { workspaceId, workspaceAuthToken } = await given.tenant(server)
    const headers = { 'x-svc-workspace-id': workspaceId, 'x-svc-auth-token': workspaceAuthToken }
    expect(await server.post('/v2/workspace/get', {}, headers)).toMatchObject({
      status: 400,
      body: invalid('data is required.'),
    })
    expect(await server.post('/v2/workspace/get', { data: {} }, headers)).toMatchObject({ status: 200 })
  })
})
