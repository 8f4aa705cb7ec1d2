import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const ownerEmail = 'owner@example.com'
const notFound = { status: 'NOT_FOUND', httpStatus: 404, message: 'API key not found.' }

describe.each(stores)('api keys on %s', (store) => {
  const server = useServer(store)
  type Create = Parameters<given.Tenant['client']['apiKeys']['create']>[0]
  /** Creates a workspace, and in it one more API key from the given input. */
  const created = async (input: Partial<Create> = {}) => {
    const tenant = await given.tenant(server)
    const { data } = await tenant.client.apiKeys.create({ ownerEmail, type: 'testing', ...input })
    return { tenant, ...(await given.keyOf(server, tenant, data.apiKey)) }
  }

  describe('update', () => {
    test('[1.4] update renames a key and leaves its other fields unchanged', async () => {
      const { client, apiKey } = await given.tenant(server)
      expect(await client.apiKeys.update({ apiKey, apiKeyName: ' Renamed ' })).toEqual({
        message: 'API key updated successfully.',
        data: null,
      })
      expect((await client.apiKeys.get()).data).toEqual([
        { id: apiKey, apiKeyName: 'Renamed', type: 'testing' },
      ])
      await client.organizations.get()
    })

    test('[1.4] update finds only the keys of its own workspace', async () => {
      const { client } = await given.tenant(server)
      const other = await given.tenant(server)
      for (const apiKey of ['key_unknown', other.apiKey]) {
        await expect(client.apiKeys.update({ apiKey, apiKeyName: 'Mine' })).rejects.toMatchObject(notFound)
      }
      expect((await other.client.apiKeys.get()).data[0]?.apiKeyName).not.toBe('Mine')
    })

    test.each<[data: object, message: string]>([
      [{}, 'apiKey is required.'],
      [{ apiKey: 'key_1' }, 'apiKeyName is required.'],
      [{ apiKey: 'key_1', apiKeyName: '' }, 'apiKeyName must not be blank.'],
      [{ apiKey: 'key_1', apiKeyName: 'x'.repeat(201) }, 'apiKeyName must have at most 200 characters.'],
    ])('[1.4] [0.3] update refuses %j', async (data, message) => {
      const { client } = await given.tenant(server)
      await expect(client.apiKeys.update(data as never)).rejects.toMatchObject({
        status: 'INVALID_ARGUMENT',
        message,
      })
    })
  })

  describe('get', () => {
    test('[1.5] [0.1.2] get needs no body and lists the API keys, oldest first', async () => {
      const { tenant, apiKey } = await created({ type: 'production' })
      const headers = {
        'x-svc-workspace-id': tenant.workspaceId,
        'x-svc-auth-token': tenant.workspaceAuthToken,
      }
      expect((await server.post('/v2/workspace/apikeys/get', '', headers)).body).toEqual({
        result: {
          status: 'success',
          message: 'API keys retrieved successfully.',
          data: [
            {
              id: tenant.apiKey,
              apiKeyName: expect.stringMatching(/^Owner\d+ Test API Key$/),
              type: 'testing',
            },
            { id: apiKey, apiKeyName: 'Owner Production API Key', type: 'production' },
          ],
        },
      })
    })

    test('[1.5] get leaves out ids that are unknown or belong to another workspace', async () => {
      const { tenant, apiKey } = await created()
      const other = await given.tenant(server)
      const get = async (apiKeys: string[]) =>
        (await tenant.client.apiKeys.get({ apiKeys })).data.map(({ id }) => id)
      expect(await get([apiKey, 'key_unknown', other.apiKey, apiKey])).toEqual([apiKey])
      expect(await get([])).toEqual([])
    })

    test('[1.5] get returns every key once when a caller follows nextPageToken', async () => {
      const { client } = await given.tenant(server)
      for (let count = 0; count < 6; count++) await client.apiKeys.create({ ownerEmail, type: 'testing' })
      const all = (await client.apiKeys.get()).data
      const pages: (typeof all)[] = []
      let pageToken: string | undefined
      do {
        const page = await client.apiKeys.get({ pageSize: 3, ...(pageToken && { pageToken }) })
        pages.push(page.data)
        pageToken = page.nextPageToken
      } while (pageToken)
      expect(pages.map((page) => page.length)).toEqual([3, 3, 1])
      expect(pages.flat()).toEqual(all)
    })

    test('[1.5] [0.5] get refuses the page token of another workspace or filter', async () => {
      const { tenant } = await created()
      const other = await created()
      const { nextPageToken: pageToken } = await tenant.client.apiKeys.get({ pageSize: 1 })
      const refusal = { status: 'INVALID_ARGUMENT', message: 'Invalid page token.' }
      await expect(other.tenant.client.apiKeys.get({ pageToken })).rejects.toMatchObject(refusal)
      await expect(tenant.client.apiKeys.get({ pageToken, apiKeys: [tenant.apiKey] })).rejects.toMatchObject(
        refusal,
      )
      await expect(tenant.client.apiKeys.get({ pageToken: 'x' })).rejects.toMatchObject(refusal)
    })

    test('[1.5] get refuses a pageSize outside 1 to 100, and more than 100 ids', async () => {
      const { client } = await given.tenant(server)
      for (const pageSize of [0, 101, 1.5]) {
        await expect(client.apiKeys.get({ pageSize })).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' })
      }
      await expect(client.apiKeys.get({ pageSize: 101 })).rejects.toMatchObject({
        message: 'pageSize must be an integer between 1 and 100.',
      })
      await client.apiKeys.get({ pageSize: 100 })
      const apiKeys = Array.from({ length: 101 }, (_, index) => `key_${index}`)
      await expect(client.apiKeys.get({ apiKeys })).rejects.toMatchObject({
        message: 'apiKeys must have at most 100 items.',
      })
    })
  })
})
