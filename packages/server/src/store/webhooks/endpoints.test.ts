import type { EventName } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import { signingSecrets } from '../../access/credentials/endpoint-secrets.ts'
import * as endpoints from './endpoints.ts'

const url = 'https://example.com/hook'
const hourMs = 60 * 60 * 1000

describe.each(stores)('stored webhook endpoints on %s', (store) => {
  const server = useServer(store)
  const tenant = async () => {
    const found = await given.tenant(server)
    await found.client.advancedWebhookConfig.update({ isEnabled: true })
    const { webhookEndpoints } = found.client
    return {
      ...found,
      webhookEndpoints,
      add: async (input: Partial<Parameters<typeof webhookEndpoints.create>[0]> = {}) =>
        (await webhookEndpoints.create({ url, ...input })).data,
      list: async () => (await webhookEndpoints.get({})).data.endpoints,
      secret: async (endpointId: string) => (await webhookEndpoints.getSecret({ endpointId })).data.secret,
      receivers: async (event: EventName, organizationId?: string) =>
        (await endpoints.listFor(server.database.read, found.apiKey, event, organizationId)).map(
          ({ endpointId }) => endpointId,
        ),
    }
  }

  test('[24.16.1] an event reaches the enabled endpoints that want it and its organization', async () => {
    const { add, receivers, webhookEndpoints } = await tenant()
    const { id: all } = await add()
    const { id: filtered } = await add({ filterTypes: ['comment.add'] })
    const { id: channel } = await add({ channels: ['o1'] })
    const { id: both } = await add({ filterTypes: ['comment.add'], channels: ['o1', 'o2'] })
    await add({ disabled: true })
    await (await tenant()).add()
    expect(await receivers('comment.add', 'o1')).toEqual([all, filtered, channel, both])
    expect(await receivers('comment.add', 'o2')).toEqual([all, filtered, both])
    expect(await receivers('comment.update', 'o1')).toEqual([all, channel])
    expect(await receivers('comment.update', 'o2')).toEqual([all])
    expect(await receivers('comment.add')).toEqual([all, filtered])
    await webhookEndpoints.update({ endpointId: all, disabled: true })
    await webhookEndpoints.delete({ endpointId: channel })
    expect(await receivers('comment.update', 'o1')).toEqual([])
  })

  test('[24.16.2] an endpoint that the server disabled says why, until a caller enables it', async () => {
    const { add, list, receivers, webhookEndpoints, apiKey } = await tenant()
    const { id: endpointId, url } = await add()
    const reason = 'The receiver answered HTTP 410.'
    const refusing = { endpointId, url }
    await server.database.write((db) => endpoints.disable(db, apiKey, refusing, reason, Date.now()))
    expect(await list()).toMatchObject([{ id: endpointId, disabled: true, disabledReason: reason }])
    expect(await receivers('comment.add')).toEqual([])
    const { data } = await webhookEndpoints.update({ endpointId, disabled: false })
    expect(data).not.toHaveProperty('disabledReason')
    expect(await receivers('comment.add')).toEqual([endpointId])
  })

  test('[24.19] after a rotation both secrets sign for 24 hours, then only the new one, and a second rotation ends the oldest', async () => {
    const { add, secret, webhookEndpoints, apiKey } = await tenant()
    const { id: endpointId } = await add()
    const signing = async (afterMs: number) => {
      const endpoint = await endpoints.find(server.database.read, apiKey, endpointId)
      return signingSecrets(server.secrets, apiKey, endpoint!, Date.now() + afterMs)
    }
    const first = await secret(endpointId)
    expect(await signing(0)).toEqual([first])
    const { data, message } = await webhookEndpoints.rotateSecret({ endpointId })
    expect(message).toBe('Advanced webhook endpoint secret rotated successfully.')
    const second = data.secret
    expect(second).not.toBe(first)
    expect(await secret(endpointId)).toBe(second)
    expect(await signing(0)).toEqual([second, first])
    expect(await signing(23.9 * hourMs)).toEqual([second, first])
    expect(await signing(24 * hourMs)).toEqual([second])
    const third = (await webhookEndpoints.rotateSecret({ endpointId })).data.secret
    expect(await signing(0)).toEqual([third, second])
  })
})
