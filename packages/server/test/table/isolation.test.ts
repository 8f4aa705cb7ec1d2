import type { Operation } from '@plenum/protocol'
import { beforeAll, describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { fill, normalized, stored } from '../support/data/filled-tenant.ts'
import { quickPost } from '../support/clients/quick-http.ts'
import { anyStore, stores, type TestServer, useServer } from '../support/harness.ts'
import { table } from '../support/table/table.ts'

async function threeTenants(of: TestServer) {
  const first = await given.tenant(of)
  const { data } = await first.client.apiKeys.create({ ownerEmail: 'sibling@example.com', type: 'testing' })
  return { first, sibling: await given.keyOf(of, first, data.apiKey), stranger: await given.tenant(of) }
}

describe('tenants', () => {
  // Has no data of the filled tenants, so its answers show how unknown ids are answered.
  const pristine = useServer(anyStore, { isOwn: true })
  /** What the outsiders are answered there. */
  let expected: unknown[]

  beforeAll(async () => {
    expected = await askAsOutsiders(pristine, await threeTenants(pristine))
  })

  async function askAsOutsiders(
    on: TestServer,
    { sibling, stranger }: { sibling: given.Tenant; stranger: given.Tenant },
  ) {
    const answers: unknown[] = []
    for (const outsider of [sibling, stranger]) {
      for (const { operation, path } of table) {
        if (operation.access === 'public') continue
        const data = given.exampleFor(outsider, operation)
        const answer = await quickPost(
          `${on.url}${path}`,
          { data },
          given.headersFor(outsider, operation.access),
        )
        answers.push({ path, answer: normalized(answer, outsider) })
      }
    }
    return answers
  }

  describe.each(stores)('[P13] [0.2] on %s', (store) => {
    const server = useServer(store)
    let tenants: Awaited<ReturnType<typeof threeTenants>>
    let before: Awaited<ReturnType<typeof stored>>

    // All calls of these tests are refused or are made by others, so all can have the same tenant.
    beforeAll(async () => {
      tenants = await threeTenants(server)
      await fill(server, tenants.first)
      before = await stored(server, tenants.first)
    })

    test('[P13] calls with another API key or workspace neither change the data of a tenant nor reveal what exists', async () => {
      expect(Object.keys(before).filter((name) => before[name]?.length === 0)).toEqual([])
      expect(await askAsOutsiders(server, tenants)).toEqual(expected)
      expect(await stored(server, tenants.first)).toEqual(before)
    })

    test('[P13] an operation that names an API key of another workspace answers as if the key did not exist', async () => {
      const { first, stranger } = tenants
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

    test('[0.2] every operation of an API key refuses wrong credentials, returns only the error and changes nothing', async () => {
      const { first: tenant, stranger: other } = tenants
      const { data } = await tenant.client.apiKeys.create({ ownerEmail: 'two@example.com', type: 'testing' })
      const sibling = await given.keyOf(server, tenant, data.apiKey)
      const revoked = sibling.authToken
      await tenant.client.authTokens.reset({ apiKey: sibling.apiKey })
      const { data: user } = await tenant.client.auth.generateToken({
        userId: 'u',
        userProperties: { name: 'U', email: 'u@example.com' },
        permissions: { resources: [] },
      })

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
      const entries = table.filter(({ operation }) => ['apiKey', 'user'].includes(operation.access))
      for (const [index, { operation, path, version }] of entries.entries()) {
        const body = JSON.stringify({ data: given.exampleFor(tenant, operation) })
        // Older versions share the check, and databases only find keys and tokens: there each has every fourth state, in turns.
        const hasAll = store === 'sqlite' && version === operation.versions.at(-1)
        const tried = states.filter((_, i) => hasAll || (i + index) % 4 === 0)
        const answers = await Promise.all(
          tried.map(([, headers]) => quickPost(`${server.url}${path}`, body, headers)),
        )
        const named = (list: unknown[]) => list.map((answer, i) => ({ path, state: tried[i]?.[0], answer }))
        expect(named(answers)).toEqual(named(tried.map(([, , answer]) => answer(operation))))
        checks += answers.length
      }
      expect(checks).toBeGreaterThan(store === 'sqlite' ? 1500 : 500)
      expect(await stored(server, tenant)).toEqual(before)
    })
  })
})
