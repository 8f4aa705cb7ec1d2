import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const path = '/v2/workspace/permissionproviderconfig'
const url = 'https://example.com/permissions'
const authToken = 'a-token-of-the-provider'

describe.each(stores)('permission provider config on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const tenant = async () => {
    const found = await given.tenant(server)
    return {
      ...found,
      change: (data: unknown) => server.post(`${path}/update`, { data }, found.headers),
      config: async () => (await found.client.permissionProviderConfig.get()).data,
    }
  }
  const invalid = (message: string) => ({
    status: 400,
    body: { error: { status: 'INVALID_ARGUMENT', message } },
  })

  test('[7.7] [0.1.2] get needs no body and returns empty settings when nothing is stored', async () => {
    const { headers } = await tenant()
    const { body } = await server.post(`${path}/get`, '', headers)
    expect(body).toEqual({
      result: {
        status: 'success',
        message: 'Permission provider configuration retrieved successfully.',
        data: {
          usePermissionProvider: false,
          permissionProviderConfig: { permissionProviderUrl: '', authToken: '' },
        },
      },
    })
  })

  test('[7.8] update merges what is sent and answers the settings with the masked token, as get does', async () => {
    const { client, config } = await tenant()
    const first = await client.permissionProviderConfig.update({ usePermissionProvider: true })
    expect(first.message).toBe('Permission provider configuration updated successfully.')
    expect(first.data).toEqual({
      usePermissionProvider: true,
      permissionProviderConfig: { permissionProviderUrl: '', authToken: '' },
    })
    await client.permissionProviderConfig.update({
      permissionProviderConfig: { permissionProviderUrl: ` ${url} ` },
    })
    const { data } = await client.permissionProviderConfig.update({ permissionProviderConfig: { authToken } })
    const expected = {
      usePermissionProvider: true,
      permissionProviderConfig: { permissionProviderUrl: url, authToken: 'a-t...der' },
    }
    expect(data).toEqual(expected)
    expect(await config()).toEqual(expected)
    await client.permissionProviderConfig.update({ usePermissionProvider: false })
    expect(await config()).toEqual({ ...expected, usePermissionProvider: false })
  })

  test('[7.7] the token is stored sealed, and no answer or log line contains it', async () => {
    const { client, change, config, apiKey } = await tenant()
    const canary = 'canary-Zq81xKw77-never-in-clear'
    await client.permissionProviderConfig.update(
      { permissionProviderConfig: { permissionProviderUrl: url, authToken: canary } },
      { idempotencyKey: 'canary' },
    )
    // Sending back what was read keeps the token.
    await client.permissionProviderConfig.update(await config())
    await change({ permissionProviderConfig: { authToken: `${canary}\n` } })
    const row = await server.database.read
      .selectFrom('service_configs')
      .select(['config', 'secret'])
      .where('api_key', '=', apiKey)
      .executeTakeFirstOrThrow()
    const context = `service_configs/${apiKey}/permissionProvider`
    expect(server.secrets.unseal(row.secret!, context).toString()).toBe(canary)
    expect(row.config).not.toContain('canary')
    for (const line of server.logged) expect(line).not.toContain(canary)

    await client.permissionProviderConfig.update({ permissionProviderConfig: { authToken: '' } })
    expect((await config()).permissionProviderConfig.authToken).toBe('')
  })

  test.each([
    'example.com',
    'ftp://example.com',
    'javascript:alert(1)',
    'https://',
    'https://user:pw@example.com',
    'http://example.com:25',
  ])('[7.8] update refuses the URL %s', async (permissionProviderUrl) => {
    const { change, config } = await tenant()
    expect(await change({ permissionProviderConfig: { permissionProviderUrl } })).toMatchObject(
      invalid('Please enter a valid URL'),
    )
    expect((await config()).permissionProviderConfig.permissionProviderUrl).toBe('')
  })

  test('[7.8] update refuses a call without settings, and a token that no header can carry', async () => {
    const { change } = await tenant()
    expect(await change({})).toMatchObject(
      invalid('At least one of usePermissionProvider or permissionProviderConfig must be provided'),
    )
    expect(await change({ permissionProviderConfig: { authToken: 'a b' } })).toMatchObject(
      invalid('permissionProviderConfig.authToken must have visible ASCII characters only.'),
    )
  })

  test('[0.2.1] two API keys have separate permission providers', async () => {
    const one = await tenant()
    const other = await tenant()
    await one.client.permissionProviderConfig.update({
      usePermissionProvider: true,
      permissionProviderConfig: { permissionProviderUrl: url, authToken },
    })
    expect((await other.config()).usePermissionProvider).toBe(false)
  })

  test('[7.6] a signature depends on the entries and on the API key', async () => {
    const [one, other] = [await tenant(), await tenant()]
    const entry = { userId: 'u1', resourceId: 'd1', type: 'document' as const, hasAccess: true }
    const sign = async ({ client }: given.Tenant, ...permissions: (typeof entry)[]) =>
      (await client.auth.generateSignature({ permissions })).data.signature
    const signature = await sign(one, entry)
    expect(signature).toMatch(/^[0-9a-f]{64}$/)
    expect(await sign(one, entry)).toBe(signature)
    expect(await sign(other, entry)).not.toBe(signature)
    expect(await sign(one, { ...entry, hasAccess: false })).not.toBe(signature)
    const empty = await server.post('/v2/auth/generate_signature', { data: { permissions: [] } }, one.headers)
    expect(empty).toMatchObject(invalid('permissions must not be empty.'))
  })
})
