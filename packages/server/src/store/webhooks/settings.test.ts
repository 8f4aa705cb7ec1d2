import { describe, expect, test } from 'vitest'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import { findSwitches } from './settings.ts'

describe.each(stores)('which webhooks are on, on %s', (store) => {
  const server = useServer(store)

  test('[24.10] [24.11] basic webhooks have the enabled events and the URLs while the service is on', async () => {
    const { client, apiKey } = await given.tenant(server)
    const switches = () => findSwitches(server.database.read, apiKey)
    const off = { basic: undefined, isAdvancedOn: false }
    expect(await switches()).toEqual(off)
    await client.webhookConfig.update({
      useWebhookService: true,
      webhookServiceConfig: {
        rawNotificationUrl: ' https://example.com/raw ',
        processedNotificationUrl: 'http://example.com/processed',
        triggers: { comment: { added: false, newlyAdded: true } },
      },
    })
    expect(await switches()).toEqual({
      basic: {
        events: new Set(['comment_annotation.add']),
        rawUrl: 'https://example.com/raw',
        processedUrl: 'http://example.com/processed',
      },
      isAdvancedOn: false,
    })
    await client.webhookConfig.update({ useWebhookService: false })
    expect(await switches()).toEqual(off)
  })

  test('[24.13] [0.2.1] advanced webhooks are on while they are enabled, for their own API key', async () => {
    const [one, other] = [await given.tenant(server), await given.tenant(server)]
    const isAdvancedOn = async ({ apiKey }: given.Tenant) =>
      (await findSwitches(server.database.read, apiKey)).isAdvancedOn
    await one.client.advancedWebhookConfig.update({ isEnabled: true })
    expect([await isAdvancedOn(one), await isAdvancedOn(other)]).toEqual([true, false])
    await one.client.advancedWebhookConfig.update({ isEnabled: false })
    expect(await isAdvancedOn(one)).toBe(false)
  })
})
