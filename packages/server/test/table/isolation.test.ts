import type { Operation } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { fill, normalized, stored } from '../support/data/filled-tenant.ts'
import { stores, type TestServer, useServer } from '../support/harness.ts'
import { type Entry, table } from '../support/table/table.ts'

describe.each(stores)('[P13] tenants on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const pristine = useServer(store, { isOwn: true })

  async function threeTenants(of: TestServer) {
    const first = await given.tenant(of)
    const { data } = await first.client.apiKeys.create({ ownerEmail: 'sibling@example.com', type: 'testing' })
    return { first, sibling: await given.keyOf(of, first, data.apiKey), stranger: await given.tenant(of) }
  }

  test(
    '[P13] calls with another API key or workspace neither change the data of a tenant nor reveal what exists',
    { timeout: 240_000 },
    async () => {
      const { first, sibling, stranger } = await threeTenants(server)
      await fill(server, first)
      const before = await stored(server, first)
      expect(
        Object.entries(before)
          .filter(([, rows]) => rows.length === 0)
          .map(([name]) => name),
      ).toEqual([])
      // The server `pristine` has no data of the first tenant, so its answers show how unknown ids are answered.
      const alone = await threeTenants(pristine)

      for (const [outsider, twin] of [
        [sibling, alone.sibling],
        [stranger, alone.stranger],
      ] as const) {
        for (const entry of table) {
          if (entry.operation.access === 'public') continue
          const answer = await call(server, entry, outsider)
          const expected = await call(pristine, entry, twin)
          expect(normalized(answer, outsider), entry.path).toEqual(normalized(expected, twin))
        }
      }
      expect(await stored(server, first)).toEqual(before)
    },
  )

  async function call(on: TestServer, { operation, path }: Entry, tenant: given.Tenant) {
    const { status, body } = await on.post(
      path,
      { data: given.exampleFor(tenant, operation) },
      given.headersFor(tenant, operation.access),
    )
    return { status, body }
  }

  test('[P13] an operation that names an API key of another workspace answers as if the key did not exist', async () => {
    const { first, stranger } = await threeTenants(server)
    for (const entry of table.filter(({ operation }) => operation.access === 'workspace')) {
      const input = entry.operation.example.input as Record<string, unknown>
      if (!Object.hasOwn(input, 'apiKey')) continue
      const ask = (apiKey: string) =>
        server.post(entry.path, { data: { ...input, apiKey } }, given.headersFor(stranger, 'workspace'))
      const { status, body } = await ask(first.apiKey)
      expect({ status, body }).toEqual({
        status: 404,
        body: { error: { status: 'NOT_FOUND', message: 'API key not found.' } },
      })
      expect((await ask('key_that_never_was')).body).toEqual(body)
    }
  })
})

describe.each(stores)('[0.2] credentials on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test(
    '[0.2] every operation of an API key refuses wrong credentials, returns only the error and changes nothing',
    { timeout: 240_000 },
    async () => {
      const tenant = await given.tenant(server)
      const other = await given.tenant(server)
      const { data } = await tenant.client.apiKeys.create({ ownerEmail: 'two@example.com', type: 'testing' })
      const sibling = await given.keyOf(server, tenant, data.apiKey)
      const revoked = sibling.authToken
      await tenant.client.authTokens.reset({ apiKey: sibling.apiKey })
      const { data: user } = await tenant.client.auth.generateToken({
        userId: 'u',
        userProperties: { name: 'U', email: 'u@example.com' },
        permissions: { resources: [] },
      })
      await fill(server, tenant)
      const before = await stored(server, tenant)

      const key = 'x-svc-api-key'
      const token = 'x-svc-auth-token'
      const refused =
        (status: string, message: string, http: number) =>
        ({ errorCode }: Operation) => ({
          status: http,
          body: { error: { status, ...(errorCode && { code: status }), message } },
        })
      const noToken = refused('INVALID_ARGUMENT', 'Auth Token not found in headers.', 400)
      const noKey = refused('INVALID_ARGUMENT', 'API key not found in headers.', 400)
      const badKey = refused('PERMISSION_DENIED', 'Invalid API key.', 403)
      const badToken = refused('UNAUTHENTICATED', 'Invalid auth token.', 401)
      const states: [state: string, headers: Record<string, string>, answer: typeof badKey][] = [
        ['none', {}, noToken],
        ['empty', { [key]: '', [token]: '' }, noToken],
        ['key only', { [key]: tenant.apiKey }, noToken],
        ['token only', { [token]: tenant.authToken }, noKey],
        ['unknown key', { [key]: 'key_unknown', [token]: tenant.authToken }, badKey],
        ['malformed key', { [key]: "' or 1=1 --", [token]: tenant.authToken }, badKey],
        ['malformed token', { [key]: tenant.apiKey, [token]: 'x' }, badToken],
        ['cut token', { [key]: tenant.apiKey, [token]: tenant.authToken.slice(0, -1) }, badToken],
        [
          'duplicated token',
          { [key]: tenant.apiKey, [token]: `${tenant.authToken}, ${tenant.authToken}` },
          badToken,
        ],
        ['token of a sibling key', { [key]: sibling.apiKey, [token]: tenant.authToken }, badToken],
        ['token of another workspace', { [key]: tenant.apiKey, [token]: other.authToken }, badToken],
        ['swapped', { [key]: tenant.authToken, [token]: tenant.apiKey }, badKey],
        ['revoked', { [key]: sibling.apiKey, [token]: revoked }, badToken],
        ['workspace token', { [key]: tenant.apiKey, [token]: tenant.workspaceAuthToken }, badToken],
        ['workspace id as key', { [key]: tenant.workspaceId, [token]: tenant.workspaceAuthToken }, badKey],
        ['user token', { [key]: tenant.apiKey, [token]: user.token }, badToken],
        [
          'unsigned token',
          { [key]: tenant.apiKey, [token]: `eyJhbGciOiJub25lIn0.${tenant.authToken.split('.')[1]}.` },
          badToken,
        ],
      ]
      let checks = 0
      for (const { operation, path } of table.filter((entry) =>
        ['apiKey', 'user'].includes(entry.operation.access),
      )) {
        for (const [state, headers, answer] of states) {
          const { status, body } = await server.post(
            path,
            { data: given.exampleFor(tenant, operation) },
            headers,
          )
          expect({ status, body }, `${path} with ${state}`).toEqual(answer(operation))
          checks++
        }
      }
      expect(checks).toBeGreaterThan(1000)
      expect(await stored(server, tenant)).toEqual(before)
    },
  )
})
