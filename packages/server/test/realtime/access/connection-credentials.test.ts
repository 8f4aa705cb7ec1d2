import { describe, expect, test } from 'vitest'
import { Credentials } from '../../../src/access/credentials/credentials.ts'
import { pageMayConnect } from '../../../src/access/domains/origins.ts'
import { apiKeyOfBackend } from '../../../src/access/credentials/backend-credentials.ts'
import { createUserTokens } from '../../../src/access/tokens/user-tokens.ts'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { RawSocket } from '../../support/clients/raw-socket.ts'
import { userToken } from '../../support/access/token-scenes.ts'

describe.each(stores)('connection credentials on %s', (store) => {
  const server = useServer(store)
  const credentials = () => new Credentials(server.database, server.secrets.authTokenKey)
  const keyOf = async (headers: Record<string, string | string[] | undefined>, known = credentials()) =>
    (await apiKeyOfBackend(known, headers))?.apiKey

  test('[0.2] a backend is identified by its API key and an auth token of that key', async () => {
    const { apiKey, headers } = await given.tenant(server)
    const known = credentials()
    expect(await keyOf(headers, known)).toBe(apiKey)
    expect(await keyOf(headers, known)).toBe(apiKey)
  })

  test('[0.2] a backend with a wrong or missing key or token is refused', async () => {
    const tenant = await given.tenant(server)
    const other = await given.tenant(server)
    const sibling = await tenant.client.apiKeys.create({ ownerEmail: 'o@example.com', type: 'testing' })
    const { authToken: siblingToken } = await given.keyOf(server, tenant, sibling.data.apiKey)
    const id = { 'x-svc-api-key': tenant.apiKey }
    const withToken = (token: string | string[]) => ({ ...id, 'x-svc-auth-token': token })
    const { authToken } = tenant
    for (const headers of [
      {},
      id,
      { 'x-svc-auth-token': authToken },
      { 'x-svc-api-key': '', 'x-svc-auth-token': authToken },
      withToken(''),
      withToken('x'),
      withToken(authToken.slice(0, -1)),
      withToken(`${authToken} `),
      withToken([authToken, authToken]),
      withToken(other.authToken),
      withToken(siblingToken),
      withToken(tenant.workspaceAuthToken),
      withToken(await userToken(tenant, 'u1')),
      { 'x-svc-api-key': other.apiKey, 'x-svc-auth-token': authToken },
      { 'x-svc-api-key': 'key_unknown', 'x-svc-auth-token': authToken },
      { 'x-svc-api-key': tenant.workspaceId, 'x-svc-auth-token': tenant.workspaceAuthToken },
    ]) {
      expect(await keyOf(headers)).toBeUndefined()
    }
  })

  test.each(['server', 'rest-api'])(
    '[R30] a token with the user id %s opens no connection, but operations accept that user id',
    async (userId) => {
      const tenant = await given.tenant(server)
      const { apiKey, client } = tenant
      const permissions = { resources: [{ type: 'organization', id: 'org_1', accessRole: 'editor' }] }
      // An earlier version of the server would have issued this token.
      const token = await createUserTokens(server.database, server.secrets).sign(
        { apiKey, userId, userProperties: {}, permissions },
        Date.now(),
      )
      const close = { code: 4401, reason: expect.stringContaining('token_invalid') }
      for (const path of [`/yjs/${editorName}`, '/realtime']) {
        expect(await new RawSocket(server, `${path}?token=${token}`).closed).toEqual(close)
      }
      const { data } = await client.users.add({
        organizationId: 'org_1',
        createOrganization: true,
        users: [{ userId }],
      })
      expect(data).toMatchObject({ [userId]: { success: true } })
    },
  )

  test('[1.7] a reset invalidates the auth token of a backend and keeps user tokens valid', async () => {
    const tenant = await given.tenant(server)
    const { apiKey, headers } = tenant
    const token = await userToken(tenant, 'u1')
    const known = credentials()
    expect(await keyOf(headers, known)).toBe(apiKey)
    const { data } = await tenant.client.authTokens.reset({ apiKey })
    known.drop(apiKey)
    expect(await keyOf(headers, known)).toBeUndefined()
    expect(await keyOf({ ...headers, 'x-svc-auth-token': data.newAuthToken.token }, known)).toBe(apiKey)
    const user = await createUserTokens(server.database, server.secrets).verify(token, Date.now())
    expect(user).toMatchObject({ apiKey, userId: 'u1' })
  })

  test('[2.0.1] [2.0.2] a browser must connect from an allowed domain or a page of the server itself, and clients without an origin can always connect', async () => {
    const { client, apiKey } = await given.tenant(server)
    await client.domains.add({ domains: ['example.com', '*.example.org'] })
    const may = (origin: string | undefined, host?: string, publicOrigins: string[] = []) =>
      pageMayConnect(server.database.read, apiKey, { origin, host }, publicOrigins)
    for (const origin of [
      undefined,
      'http://localhost:3000',
      'https://example.com',
      'https://www.example.com:8443',
      'https://a.b.example.org',
    ]) {
      expect(`${origin} ${await may(origin)}`).toBe(`${origin} true`)
    }
    for (const origin of [
      '',
      'null',
      'https://example.com.evil.test',
      'https://evilexample.com',
      'https://example.org',
      'file://',
      'https://collab.test',
    ]) {
      expect(`${origin} ${await may(origin)}`).toBe(`${origin} false`)
    }
    expect(await may('null', 'null')).toBe(false)
    // Pages of the server itself: the address is an IP address, or the operator configured the origin.
    expect(await may('http://192.0.2.7:4000', '192.0.2.7:4000')).toBe(true)
    expect(await may('http://[2001:db8::7]:4000', '[2001:db8::7]:4000')).toBe(true)
    expect(await may('http://192.0.2.7:4000', '192.0.2.7:5000')).toBe(false)
    expect(await may('https://collab.test', 'collab.test')).toBe(false)
    expect(await may('https://collab.test', 'localhost:4000', ['https://collab.test'])).toBe(true)
    expect(await may('http://collab.test', 'collab.test', ['https://collab.test'])).toBe(false)
  })

  test('[2.0.2] the pages of a server at localhost may use API keys that do not allow localhost', async () => {
    const { client, apiKey } = await given.tenant(server)
    await client.domains.add({ domains: ['example.com'] })
    await client.domains.delete({ domains: ['localhost', '127.0.0.1'] })
    const may = (origin: string, host: string) =>
      pageMayConnect(server.database.read, apiKey, { origin, host }, [])
    expect(await may('http://localhost:4000', 'localhost:4000')).toBe(true)
    expect(await may('http://localhost:3000', 'localhost:4000')).toBe(false)
    expect(await may('http://localhost.evil.test', 'localhost.evil.test')).toBe(false)
  })

  test('[2.0.1] an API key without allowed domains accepts every origin', async () => {
    const { client, apiKey } = await given.tenant(server)
    await client.domains.delete({ domains: ['localhost', '127.0.0.1'] })
    const page = { origin: 'https://anywhere.test', host: undefined }
    expect(await pageMayConnect(server.database.read, apiKey, page, [])).toBe(true)
  })
})
