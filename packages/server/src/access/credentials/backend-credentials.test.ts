import { describe, expect, test } from 'vitest'
import { userToken } from '../../../test/support/access/token-scenes.ts'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import { createUserTokens } from '../tokens/user-tokens.ts'
import { apiKeyOfBackend } from './backend-credentials.ts'
import { Credentials } from './credentials.ts'

describe.each(stores)('the credentials of a backend on %s', (store) => {
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
})
