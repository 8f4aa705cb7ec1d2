import { defaultTriggers, enabledEvents } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../../test/support/given.ts'
import { stores, useServer } from '../../../test/support/harness.ts'
import * as apiKeys from '../api-keys.ts'
import { findSettings } from './service-config.ts'

describe.each(stores)('the settings of notifications on %s', (store) => {
  const server = useServer(store)
  const tenant = async () => {
    const { client, apiKey } = await given.tenant(server)
    const { read } = server.database
    return { client, settings: async () => findSettings(read, (await apiKeys.find(read, apiKey))!.key) }
  }

  test('[5.1.1] [5.2] without settings the default events notify at once, and only what is enabled is delayed or batched', async () => {
    const { client, settings } = await tenant()
    expect(await settings()).toEqual({
      events: enabledEvents(defaultTriggers.notification),
      delaySeconds: 0,
      batches: {},
    })
    await client.notificationServiceConfig.update({
      notificationServiceConfig: {
        delayConfig: { isEnabled: true, delaySeconds: 60 },
        batchConfig: { user: { isEnabled: true, maxActivities: 7 }, document: { batchWindowSeconds: 20 } },
      },
    })
    expect(await settings()).toMatchObject({
      delaySeconds: 60,
      batches: { user: { batchWindowSeconds: 10, maxActivities: 7 } },
    })
    expect((await settings()).batches.document).toBeUndefined()
  })

  test('[5.2.1] sent triggers change the default events', async () => {
    const { client, settings } = await tenant()
    const triggers = { comment: { added: false, suggestionAccepted: true } }
    await client.notificationServiceConfig.update({ notificationServiceConfig: { triggers } })
    await client.notificationServiceConfig.update({
      notificationServiceConfig: { triggers: { huddle: { created: false } } },
    })
    const changed = {
      'comment.add': false,
      'comment_annotation.suggestion_accept': true,
      'huddle.create': false,
    } as const
    expect((await settings()).events).toEqual(enabledEvents({ ...defaultTriggers.notification, ...changed }))
  })

  test('[5.1] without useNotificationService no event notifies, whichever operation changes it', async () => {
    const { client, settings } = await tenant()
    const isOn = async (value: boolean) => expect((await settings()).events.size > 0).toBe(value)
    await client.notificationServiceConfig.update({ useNotificationService: false })
    await isOn(false)
    await client.apiKeyConfig.update({ useNotificationService: true })
    await isOn(true)
    await client.apiKeyConfig.update({ useNotificationService: false })
    await isOn(false)
    await client.notificationServiceConfig.update({ useNotificationService: true })
    await isOn(true)
  })
})
