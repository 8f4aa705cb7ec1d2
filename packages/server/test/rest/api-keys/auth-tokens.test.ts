import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const jwt = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)
const notFound = { status: 'NOT_FOUND', httpStatus: 404, message: 'API key not found.' }

describe.each(stores)('auth tokens on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test('[1.6] get returns the same token every time', async () => {
    const { client, apiKey, authToken } = await given.tenant(server)
    const answer = {
      message: 'Auth tokens retrieved successfully.',
      data: { apiKey, authTokens: [{ token: authToken, name: 'Default Auth Token', domains: [] }] },
    }
    expect(authToken).toEqual(jwt)
    expect(await client.authTokens.get({ apiKey })).toEqual(answer)
    expect(await client.authTokens.get({ apiKey })).toEqual(answer)
  })

  test('[1.7] reset replaces the token, and the server refuses the old token immediately', async () => {
    const { client, apiKey, authToken, headers } = await given.tenant(server)
    expect((await client.organizations.get()).data).toEqual([])
    const reset = await client.authTokens.reset({ apiKey })
    expect(reset).toEqual({
      message: 'Auth token reset successfully.',
      data: { apiKey, newAuthToken: { token: jwt, name: 'Default Auth Token', domains: [] } },
    })
    const { newAuthToken } = reset.data
    expect(newAuthToken.token).not.toBe(authToken)
    expect(await server.post('/v2/organizations/get', { data: {} }, headers)).toMatchObject({
      status: 401,
      body: { error: { status: 'UNAUTHENTICATED', message: 'Invalid auth token.' } },
    })
    await server.client({ apiKey, authToken: newAuthToken.token }).organizations.get()
    expect((await client.authTokens.get({ apiKey })).data.authTokens).toEqual([newAuthToken])
  })

  test('[1.7] the server refuses the old token after a reset even when calls with it arrive during the reset', async () => {
    const { client, apiKey, headers } = await given.tenant(server)
    const call = () => server.post('/v2/organizations/get', { data: {} }, headers)
    expect(await call()).toMatchObject({ status: 200 })
    const [reset] = await Promise.all([client.authTokens.reset({ apiKey }), call(), call(), call()])
    expect(await call()).toMatchObject({ status: 401 })
    await server.client({ apiKey, authToken: reset.data.newAuthToken.token }).organizations.get()
  })

  test('[1.7] reset leaves the tokens of another key and of the workspace unchanged', async () => {
    const tenant = await given.tenant(server)
    const { data } = await tenant.client.apiKeys.create({ ownerEmail: 'o@example.com', type: 'testing' })
    const second = await given.keyOf(server, tenant, data.apiKey)
    await tenant.client.authTokens.reset({ apiKey: tenant.apiKey })
    await second.client.organizations.get()
    await tenant.client.workspace.get()
  })

  test('[1.6] [1.7] an API key can exist without a token, and reset creates one', async () => {
    const { client } = await given.tenant(server)
    const { data } = await client.apiKeys.create({
      ownerEmail: 'o@example.com',
      type: 'testing',
      createAuthToken: false,
    })
    expect((await client.authTokens.get(data)).data).toEqual({ ...data, authTokens: [] })
    const { newAuthToken } = (await client.authTokens.reset(data)).data
    expect((await client.authTokens.get(data)).data).toEqual({ ...data, authTokens: [newAuthToken] })
    await server.client({ ...data, authToken: newAuthToken.token }).organizations.get()
  })

  test('[1.7] concurrent resets leave exactly one valid token', async () => {
    const { client } = await given.tenant(server)
    const { data } = await client.apiKeys.create({
      ownerEmail: 'o@example.com',
      type: 'testing',
      createAuthToken: false,
    })
    await Promise.all(Array.from({ length: 4 }, () => client.authTokens.reset(data)))
    expect((await client.authTokens.get(data)).data.authTokens).toHaveLength(1)
  })

  test('[I1] [1.7] reset with a repeated Idempotency-Key returns the token of the first reset and creates no other', async () => {
    const { client, apiKey } = await given.tenant(server)
    const options = { idempotencyKey: 'reset-once' }
    const first = await client.authTokens.reset({ apiKey }, options)
    expect(await client.authTokens.reset({ apiKey }, options)).toEqual(first)
    expect((await client.authTokens.get({ apiKey })).data.authTokens).toEqual([first.data.newAuthToken])
  })

  test.each(['get', 'reset'] as const)(
    '[1.6] [1.7] %s finds only the keys of its own workspace',
    async (verb) => {
      const { client } = await given.tenant(server)
      const other = await given.tenant(server)
      await expect(client.authTokens[verb]({ apiKey: 'key_unknown' })).rejects.toMatchObject(notFound)
      await expect(client.authTokens[verb]({ apiKey: other.apiKey })).rejects.toMatchObject(notFound)
      await other.client.organizations.get()
    },
  )

  test.each(['get', 'reset'] as const)('[1.6] [1.7] [0.3] %s requires the API key', async (verb) => {
    const { client } = await given.tenant(server)
    for (const input of [{}, { apiKey: ' ' }]) {
      await expect(client.authTokens[verb](input as { apiKey: string })).rejects.toMatchObject({
        status: 'INVALID_ARGUMENT',
        message: 'apiKey is required.',
      })
    }
    await expect(client.authTokens[verb]({ apiKey: 1 } as never)).rejects.toMatchObject({
      message: 'apiKey must be a string.',
    })
  })

  test('[1.6] neither the rows of tokens and workspaces nor the log contain a token', async () => {
    const { apiKey, authToken, workspaceAuthToken, workspaceId } = await given.tenant(server)
    const rows = [
      await server.database.read
        .selectFrom('auth_tokens')
        .selectAll()
        .where('api_key', '=', apiKey)
        .execute(),
      await server.database.read
        .selectFrom('workspaces')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .execute(),
    ]
    const stored = JSON.stringify(rows)
    expect(stored).not.toContain(authToken)
    expect(stored).not.toContain(workspaceAuthToken)
    expect(server.logged.join('\n')).not.toContain(authToken)
  })
})
