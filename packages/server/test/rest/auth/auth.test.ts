import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { ada, jwks, userToken, verify } from '../../support/access/token-scenes.ts'

const refused = (message: string) => ({
  status: 400,
  body: { error: { status: 'INVALID_ARGUMENT', message } },
})

const reservedName = (userId: string) =>
  `userId must not be "${userId}": writes of your backend are stored under this name.`

describe.each(stores)('auth on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  const generate = (tenant: given.Tenant, data: unknown) =>
    server.post('/v2/auth/generate_token', { data }, tenant.headers)

  const get = (data: unknown, headers: Record<string, string> = {}) =>
    server.post('/v1/auth/token/get', { data }, headers)

  describe('generateToken', () => {
    test('[4.1] generateToken returns a token with identity and permissions, signed by a published key', async () => {
      const { client, apiKey } = await given.tenant(server)
      const { message, data } = await client.auth.generateToken({
        userId: 'u1',
        userProperties: { ...ada, isAdmin: true },
        permissions: {
          resources: [
            { type: 'organization', id: 'o1', accessRole: 'viewer' },
            { type: 'folder', id: 'f1', organizationId: 'o1', accessRole: 'editor' },
            { type: 'document', id: 'd1', organizationId: 'o1', accessRole: 'viewer', expiresAt: 1893456000 },
          ],
        },
      })
      expect({ message, data }).toEqual({
        message: 'Token generated successfully.',
        data: { token: expect.any(String) },
      })
      expect(await verify(server, data.token, apiKey)).toEqual({
        iss: 'svc',
        aud: apiKey,
        sub: 'u1',
        iat: expect.any(Number),
        exp: expect.any(Number),
        jti: expect.any(String),
        issuedAtMs: expect.any(Number),
        userProperties: { ...ada, isAdmin: true },
        permissions: {
          resources: [
            { type: 'organization', id: 'o1', accessRole: 'viewer' },
            { type: 'folder', id: 'f1', organizationId: 'o1', accessRole: 'editor' },
            { type: 'document', id: 'd1', organizationId: 'o1', accessRole: 'viewer', expiresAt: 1893456000 },
          ],
        },
      })
      expect(decodeProtectedHeader(data.token)).toEqual({
        alg: 'ES256',
        typ: 'JWT',
        kid: (await jwks(server)).keys[0]?.kid,
      })
    })

    test('[4.1] [8] a token expires 48 hours after it was issued', async () => {
      const tenant = await given.tenant(server)
      const before = Math.floor(Date.now() / 1000)
      const { iat = 0, exp, issuedAtMs } = decodeJwt(await userToken(tenant, 'u1'))
      expect(iat).toBeGreaterThanOrEqual(before)
      expect(iat).toBeLessThanOrEqual(Date.now() / 1000)
      expect(exp).toBe(iat + 172_800)
      expect(Math.floor((issuedAtMs as number) / 1000)).toBe(iat)
    })

    test('[4.1] [7.1.2] a changed token, or a token of another API key, does not verify', async () => {
      const tenant = await given.tenant(server)
      const token = await userToken(tenant, 'u1')
      const [header, , signature] = token.split('.')
      const forged = Buffer.from(JSON.stringify({ ...decodeJwt(token), sub: 'u2' })).toString('base64url')
      await expect(verify(server, `${header}.${forged}.${signature}`, tenant.apiKey)).rejects.toThrow(
        'signature verification failed',
      )
      await expect(verify(server, token, (await given.tenant(server)).apiKey)).rejects.toThrow('"aud"')
    })

    test('[4.1] [7.1] a resource without a role gets editor, and a user without isAdmin is not an administrator', async () => {
      const { client, apiKey } = await given.tenant(server)
      const { data } = await client.auth.generateToken({
        userId: 'u1',
        userProperties: ada,
        permissions: { resources: [{ type: 'organization', id: 'o1' }] },
      })
      expect(await verify(server, data.token, apiKey)).toMatchObject({
        userProperties: { ...ada, isAdmin: false },
        permissions: { resources: [{ type: 'organization', id: 'o1', accessRole: 'editor' }] },
      })
    })

    test('[4.1] an organization resource in the token has no organizationId', async () => {
      const { client, apiKey } = await given.tenant(server)
      const { data } = await client.auth.generateToken({
        userId: 'u1',
        userProperties: ada,
        permissions: { resources: [{ type: 'organization', id: 'o1', organizationId: 'o2' }] },
      })
      expect((await verify(server, data.token, apiKey)).permissions).toEqual({
        resources: [{ type: 'organization', id: 'o1', accessRole: 'editor', isDefaultRole: true }],
      })
    })

    test('[7.1] additional user properties become claims, except organizationId', async () => {
      const { client, apiKey } = await given.tenant(server)
      const { data } = await client.auth.generateToken({
        userId: 'u1',
        userProperties: { ...ada, organizationId: 'o1', plan: { seats: 3 }, tags: ['a'] },
        permissions: { resources: [] },
      })
      expect(await verify(server, data.token, apiKey)).toMatchObject({
        userProperties: { ...ada, isAdmin: false, plan: { seats: 3 }, tags: ['a'] },
        permissions: { resources: [] },
      })
      expect(decodeJwt(data.token).userProperties).not.toHaveProperty('organizationId')
    })

    test.each([
      [1_000_000_000_000, 1_000_000_000],
      [1_893_456_000_999, 1_893_456_000],
      [999_999_999_999, 999_999_999_999],
      [1_893_456_000, 1_893_456_000],
      [1, 1],
    ])('[0.6.4] expiresAt %d becomes %d seconds, whether past or future', async (sent, expiresAt) => {
      const { client } = await given.tenant(server)
      const resource = { type: 'document', id: 'd1', organizationId: 'o1', accessRole: 'viewer' } as const
      const { data } = await client.auth.generateToken({
        userId: 'u1',
        userProperties: ada,
        permissions: { resources: [{ ...resource, expiresAt: sent }] },
      })
      expect(decodeJwt(data.token).permissions).toEqual({ resources: [{ ...resource, expiresAt }] })
    })

    test('[7.1.1] [0.4.2] the first entry wins when a request names a resource twice', async () => {
      const { client } = await given.tenant(server)
      const document = { type: 'document', id: 'x', organizationId: 'o1' } as const
      const { data } = await client.auth.generateToken({
        userId: 'u1',
        userProperties: ada,
        permissions: {
          resources: [
            { ...document, accessRole: 'viewer' },
            { ...document, accessRole: 'editor', expiresAt: 1893456000 },
            { ...document, organizationId: 'o2', accessRole: 'editor' },
            { ...document, type: 'folder', accessRole: 'editor' },
          ],
        },
      })
      expect(decodeJwt(data.token).permissions).toEqual({
        resources: [
          { ...document, accessRole: 'viewer' },
          { ...document, organizationId: 'o2', accessRole: 'editor' },
          { ...document, type: 'folder', accessRole: 'editor' },
        ],
      })
    })

    test('[0.6.4] generateToken rounds a fractional expiresAt down, in seconds and in milliseconds', async () => {
      const { client } = await given.tenant(server)
      const expiresAt = [1_893_456_000.9, 1_893_456_000_999.9, 999_999_999_999.9, 1.5]
      const resources = expiresAt.map((one, index) => ({
        type: 'organization' as const,
        id: `o${index}`,
        expiresAt: one,
      }))
      const { data } = await client.auth.generateToken({
        userId: 'u1',
        userProperties: ada,
        permissions: { resources },
      })
      const claims = decodeJwt(data.token).permissions as { resources: { expiresAt: number }[] }
      expect(claims.resources.map((one) => one.expiresAt)).toEqual([
        1_893_456_000, 1_893_456_000, 999_999_999_999, 1,
      ])
    })

    test('[7.1] generateToken stores no user, organization or grant', async () => {
      const { client } = await given.tenant(server)
      const resources = [{ type: 'organization', id: 'o1' } as const]
      await client.auth.generateToken({ userId: 'u1', userProperties: ada, permissions: { resources } })
      expect((await client.organizations.get()).data).toEqual([])
      await client.organizations.add({ organizations: [{ organizationId: 'o1' }] })
      expect((await client.permissions.get({ organizationId: 'o1', userIds: ['u1'] })).data).toEqual({
        u1: {
          organization: {
            o1: { error: 'User does not have access to organization', errorCode: 'permission_denied' },
          },
        },
      })
    })

    test('[7.1.6] a token needs no email address, and signing in with it keeps the one in the profile', async () => {
      const tenant = await given.tenant(server)
      await given.organization(tenant)
      await tenant.client.users.add({ organizationId: 'org_1', users: [{ userId: 'ada', ...ada }] })
      const resources = [{ type: 'organization', id: 'org_1' } as const]
      const signIn = async (userId: string) => {
        const request = { userId, userProperties: { name: 'Ada' }, permissions: { resources } }
        const { token } = (await tenant.client.auth.generateToken(request)).data
        expect(decodeJwt(token)['userProperties']).toEqual({ name: 'Ada', isAdmin: false })
        const { data } = await server.client({ token }).users.list({ organizationId: 'org_1' })
        return data.map((user) => [user.userId, user.name])
      }
      await signIn('agent')
      await signIn('ada')
      const { data } = await tenant.client.users.get({ organizationId: 'org_1' })
      const addresses = Object.fromEntries(data.map(({ userId, email }) => [userId, email]))
      expect(addresses).toEqual({ agent: undefined, ada: ada.email })
    })

    test('[7.1] every token has a unique id', async () => {
      const tenant = await given.tenant(server)
      const tokens = [await userToken(tenant, 'u1'), await userToken(tenant, 'u1')]
      expect(new Set(tokens.map((token) => decodeJwt(token).jti)).size).toBe(2)
    })

    const valid = { userId: 'u1', userProperties: ada, permissions: { resources: [] } }
    const withResource = (resource: unknown) => ({ ...valid, permissions: { resources: [resource] } })
    const first = 'permissions.resources[0]'

    test.each<[message: string, data: unknown]>([
      ['userId is required.', {}],
      ['userId is required.', { ...valid, userId: ' ' }],
      ['userId must be a string.', { ...valid, userId: 7 }],
      ['userId must have at most 256 characters.', { ...valid, userId: 'u'.repeat(257) }],
      [reservedName('server'), { ...valid, userId: 'server', userProperties: { ...ada, email: 'x' } }],
      [reservedName('rest-api'), { ...valid, userId: 'rest-api' }],
      ['userProperties is required.', { userId: 'u1' }],
      ['userProperties must be an object.', { ...valid, userProperties: 'Ada' }],
      ['userProperties.name is required.', { ...valid, userProperties: {} }],
      ['userProperties.name is required.', { ...valid, userProperties: { ...ada, name: '\t' } }],
      [
        'userProperties.name must have at most 1000 characters.',
        { ...valid, userProperties: { ...ada, name: 'a'.repeat(1001) } },
      ],
      [
        'userProperties.email must be a valid email address.',
        { ...valid, userProperties: { name: 'Ada', email: '' } },
      ],
      [
        'userProperties.email must be a valid email address.',
        { ...valid, userProperties: { ...ada, email: 'ada@' } },
      ],
      ['userProperties.isAdmin must be a boolean.', { ...valid, userProperties: { ...ada, isAdmin: 'yes' } }],
      ['permissions is required.', { userId: 'u1', userProperties: ada }],
      ['permissions.resources is required.', { ...valid, permissions: {} }],
      ['permissions.resources must be an array.', { ...valid, permissions: { resources: {} } }],
      [
        'permissions.resources must have at most 500 items.',
        {
          ...valid,
          permissions: {
            resources: Array.from({ length: 501 }, (_, n) => ({ type: 'organization', id: `${n}` })),
          },
        },
      ],
      [`${first}.type is required.`, withResource({})],
      [
        `${first}.type must be one of: organization, folder, document, context.`,
        withResource({ type: 'team', id: 'x' }),
      ],
      [`${first}.id is required.`, withResource({ type: 'organization' })],
      [`${first}.id is required.`, withResource({ type: 'organization', id: '' })],
      [`${first}.organizationId is required.`, withResource({ type: 'folder', id: 'f1' })],
      [`${first}.organizationId is required.`, withResource({ type: 'document', id: 'd1' })],
      [
        `${first}.accessRole must be one of: viewer, editor.`,
        withResource({ type: 'organization', id: 'o1', accessRole: 'owner' }),
      ],
      [
        `${first}.expiresAt must be a number.`,
        withResource({ type: 'organization', id: 'o1', expiresAt: '1893456000' }),
      ],
      [
        `${first}.expiresAt must be at least 1.`,
        withResource({ type: 'organization', id: 'o1', expiresAt: 0 }),
      ],
      [
        `${first}.expiresAt must be at least 1.`,
        withResource({ type: 'organization', id: 'o1', expiresAt: 0.9 }),
      ],
    ])('[4.1] [7] [0.3] generateToken refuses a faulty body: %s', async (message, data) => {
      expect(await generate(await given.tenant(server), data)).toMatchObject(refused(message))
    })

    test('[0.3] an error about the second resource names its index', async () => {
      const resources = [
        { type: 'organization', id: 'o1' },
        { type: 'document', id: 'd1' },
      ]
      expect(
        await generate(await given.tenant(server), { ...valid, permissions: { resources } }),
      ).toMatchObject(refused('permissions.resources[1].organizationId is required.'))
    })

    test('[0.1.1] generateToken refuses a body without data', async () => {
      const { headers } = await given.tenant(server)
      expect(await server.post('/v2/auth/generate_token', valid, headers)).toMatchObject(
        refused('data is required.'),
      )
    })

    test('[4.1] [7.1.1] one token can hold 500 resources', async () => {
      const { client } = await given.tenant(server)
      const resources = Array.from({ length: 500 }, (_, n) => ({
        type: 'organization' as const,
        id: `o${n}`,
      }))
      const { data } = await client.auth.generateToken({
        userId: 'u1',
        userProperties: ada,
        permissions: { resources },
      })
      expect((decodeJwt(data.token).permissions as typeof valid.permissions).resources).toHaveLength(500)
    })

    test('[5] generateToken requires the credentials of the API key', async () => {
      const { headers } = await given.tenant(server)
      expect(await server.post('/v2/auth/generate_token', { data: valid })).toMatchObject(
        refused('Auth Token not found in headers.'),
      )
      expect(
        await server.post(
          '/v2/auth/generate_token',
          { data: valid },
          { ...headers, 'x-svc-auth-token': 'wrong' },
        ),
      ).toMatchObject({
        status: 401,
        body: { error: { status: 'UNAUTHENTICATED', message: 'Invalid auth token.' } },
      })
    })
  })

  describe('getToken', () => {
    const user = { userId: 'u1', userProperties: { organizationId: 'o1' } }

    test('[7.2] getToken issues a token whose only permission is editor of the organization', async () => {
      const { client, apiKey, authToken } = await given.tenant(server)
      const { message, data } = await client.auth.getToken({
        apiKey,
        authToken,
        userId: 'u1',
        userProperties: { organizationId: 'o1', isAdmin: true, email: 'ada@example.com', team: 'red' },
      })
      expect({ message, data }).toEqual({
        message: 'Token generated successfully.',
        data: { token: expect.any(String) },
      })
      const payload = await verify(server, data.token, apiKey)
      expect(payload).toEqual({
        iss: 'svc',
        aud: apiKey,
        sub: 'u1',
        iat: expect.any(Number),
        exp: (payload.iat ?? 0) + 172_800,
        jti: expect.any(String),
        issuedAtMs: expect.any(Number),
        userProperties: { isAdmin: true, email: 'ada@example.com', team: 'red' },
        permissions: {
          resources: [{ type: 'organization', id: 'o1', accessRole: 'editor', isDefaultRole: true }],
        },
      })
    })

    test('[7.2] getToken requires only the organization among the user properties', async () => {
      const { apiKey, authToken } = await given.tenant(server)
      const { body } = await get({ apiKey, authToken, ...user })
      expect(decodeJwt(body.result.data.token).userProperties).toEqual({ isAdmin: false })
    })

    test('[7.2] getToken accepts the credentials in the headers instead of the body', async () => {
      const { headers, apiKey } = await given.tenant(server)
      const { status, body } = await get(user, headers)
      expect(status).toBe(200)
      expect(decodeJwt(body.result.data.token).aud).toBe(apiKey)
    })

    test('[7.2] getToken checks the credentials before the other fields', async () => {
      const { apiKey, authToken } = await given.tenant(server)
      const { authToken: other } = await given.tenant(server)
      expect(await get({ apiKey })).toMatchObject(refused('Auth token not found.'))
      expect(await get({ apiKey, authToken: '' })).toMatchObject(refused('Auth token not found.'))
      expect(await get({ authToken })).toMatchObject(refused('API key not found.'))
      expect(await get({ apiKey: 'key_unknown', authToken })).toMatchObject({
        status: 403,
        body: { error: { status: 'PERMISSION_DENIED', message: 'Invalid API key.' } },
      })
      expect(await get({ apiKey, authToken: other })).toMatchObject({
        status: 401,
        body: { error: { status: 'UNAUTHENTICATED', message: 'Invalid auth token.' } },
      })
    })

    test.each<[message: string, data: object]>([
      ['userId is required.', {}],
      ['userProperties is required.', { userId: 'u1' }],
      ['userProperties.organizationId is required.', { userId: 'u1', userProperties: {} }],
      [
        'userProperties.organizationId is required.',
        { userId: 'u1', userProperties: { organizationId: ' ' } },
      ],
      [
        'userProperties.isAdmin must be a boolean.',
        { userId: 'u1', userProperties: { organizationId: 'o1', isAdmin: 1 } },
      ],
      [
        'userProperties.email must be a valid email address.',
        { userId: 'u1', userProperties: { organizationId: 'o1', email: 'x' } },
      ],
      [reservedName('server'), { userId: 'server', userProperties: { organizationId: 'o1' } }],
      [reservedName('rest-api'), { userId: 'rest-api', userProperties: { organizationId: 'o1' } }],
    ])('[7.2] [0.3] getToken refuses a faulty body: %s', async (message, data) => {
      const { apiKey, authToken } = await given.tenant(server)
      expect(await get({ apiKey, authToken, ...data })).toMatchObject(refused(message))
    })

    test('[7.2] getToken exists under v1 only', async () => {
      const { apiKey, authToken } = await given.tenant(server)
      expect(await server.post('/v2/auth/token/get', { data: { apiKey, authToken, ...user } })).toMatchObject(
        {
          status: 404,
        },
      )
    })
  })
})
