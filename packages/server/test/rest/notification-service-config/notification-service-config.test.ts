import { defaultTriggers, type Triggers, toGrouped } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const update = '/v2/workspace/notificationconfig/update'
const grouped = (changes: Triggers = {}) => toGrouped({ ...defaultTriggers.notification, ...changes })
const batch = { isEnabled: false, batchWindowSeconds: 10, maxActivities: 2 }
const defaults = {
  triggers: grouped(),
  delayConfig: { isEnabled: false, delaySeconds: 10 },
  batchConfig: { document: batch, user: batch },
}

describe.each(stores)('notification service config on %s', (store) => {
  const server = useServer(store)
  const tenant = async () => {
    const found = await given.tenant(server)
    const { client, headers } = found
    return {
      ...found,
      change: (data: unknown) => server.post(update, { data }, headers),
      config: async () => (await client.notificationServiceConfig.get()).data,
    }
  }

  test('[5.1] [5.1.1] [0.1.2] get needs no body, and returns the defaults when nothing is stored', async () => {
    const { headers } = await tenant()
    for (const body of ['', { data: {} }]) {
      const answer = await server.post('/v2/workspace/notificationconfig/get', body, headers)
      expect(answer.body).toEqual({
        result: {
          status: 'success',
          message: 'Notification configuration retrieved successfully.',
          data: { useNotificationService: true, notificationServiceConfig: defaults },
        },
      })
    }
  })

  test('[5.2] update merges every level and returns only what is stored', async () => {
    const { client, config } = await tenant()
    const change = async (notificationServiceConfig: object) =>
      (await client.notificationServiceConfig.update({ notificationServiceConfig })).data
    expect(await change({ delayConfig: { delaySeconds: 60 } })).toEqual({
      useNotificationService: true,
      notificationServiceConfig: { delayConfig: { delaySeconds: 60 } },
    })
    await change({ delayConfig: { isEnabled: true } })
    await change({ batchConfig: { user: { isEnabled: true } } })
    const stored = {
      delayConfig: { isEnabled: true, delaySeconds: 60 },
      batchConfig: { user: { isEnabled: true, maxActivities: 7 }, document: { batchWindowSeconds: 20 } },
    }
    const last = { user: { maxActivities: 7 }, document: { batchWindowSeconds: 20 } }
    expect((await change({ batchConfig: last })).notificationServiceConfig).toEqual(stored)
    expect((await config()).notificationServiceConfig).toEqual({
      triggers: grouped(),
      delayConfig: stored.delayConfig,
      batchConfig: {
        user: { ...batch, isEnabled: true, maxActivities: 7 },
        document: { ...batch, batchWindowSeconds: 20 },
      },
    })
  })

  test('[5.2.1] [24.4] enabling the service stores the default triggers, and nothing else', async () => {
    const { client, config } = await tenant()
    const { data } = await client.notificationServiceConfig.update({ useNotificationService: true })
    expect(data).toEqual({
      useNotificationService: true,
      notificationServiceConfig: { triggers: grouped() },
    })
    expect((await config()).notificationServiceConfig).toEqual(defaults)
  })

  test('[5.2.1] sent triggers are merged into the defaults, and later ones into those that are stored', async () => {
    const { client, config } = await tenant()
    const send = (triggers: object) =>
      client.notificationServiceConfig.update({ notificationServiceConfig: { triggers } })
    await send({ comment: { added: false, suggestionAccepted: true } })
    await send({ huddle: { created: false } })
    await client.notificationServiceConfig.update({ useNotificationService: true })
    const changed = {
      'comment.add': false,
      'comment_annotation.suggestion_accept': true,
      'huddle.create': false,
    } as const
    expect((await config()).notificationServiceConfig.triggers).toEqual(grouped(changed))
  })

  test('[5.1] [0.9] useNotificationService is the option of the API key, whichever operation changes it', async () => {
    const { client, config } = await tenant()
    const isOption = async (value: boolean) => {
      expect((await config()).useNotificationService).toBe(value)
      expect((await client.apiKeyConfig.get()).data.useNotificationService).toBe(value)
      const reads = client.notifications.getConfig({ organizationId: 'o', userId: 'u', documentIds: ['d'] })
      if (value) await reads
      else await expect(reads).rejects.toMatchObject({ status: 'FAILED_PRECONDITION' })
    }
    await client.notificationServiceConfig.update({ useNotificationService: false })
    await isOption(false)
    await client.apiKeyConfig.update({ useNotificationService: true })
    await isOption(true)
    await client.apiKeyConfig.update({ useNotificationService: false })
    await isOption(false)
    await client.notificationServiceConfig.update({ useNotificationService: true })
    await isOption(true)
  })

  test('[1.3] [5.1] get returns the triggers that Create API Key stored', async () => {
    const { client, ...workspace } = await tenant()
    const created = await client.apiKeys.create({
      ownerEmail: 'o@example.com',
      type: 'testing',
      setDefaultNotificationTriggers: true,
    })
    const key = await given.keyOf(server, workspace, created.data.apiKey)
    const { data } = await key.client.notificationServiceConfig.update({
      notificationServiceConfig: { delayConfig: { delaySeconds: 20 } },
    })
    expect(data.notificationServiceConfig).toEqual({
      triggers: grouped(),
      delayConfig: { delaySeconds: 20 },
    })
  })

  const at = 'notificationServiceConfig'
  test.each<[message: string, data: object]>([
    ['At least one of useNotificationService or notificationServiceConfig must be provided', {}],
    ['useNotificationService must be a boolean.', { useNotificationService: 1 }],
    [`${at} must be an object.`, { [at]: [] }],
    [`${at}.triggers.crdt is not a known field.`, { [at]: { triggers: { crdt: { updateData: true } } } }],
    [
      `${at}.triggers.comment.exploded is not a known field.`,
      { [at]: { triggers: { comment: { exploded: true } } } },
    ],
    [
      `${at}.triggers.comment.toString is not a known field.`,
      { [at]: { triggers: { comment: { toString: true } } } },
    ],
    [
      `${at}.triggers.comment.added must be a boolean.`,
      { [at]: { triggers: { comment: { added: 'yes' } } } },
    ],
    ...[9, 15_552_001].map((delaySeconds): [string, object] => [
      `${at}.delayConfig.delaySeconds must be an integer between 10 and 15552000.`,
      { [at]: { delayConfig: { delaySeconds } } },
    ]),
    [`${at}.delayConfig.delaySeconds must be an integer.`, { [at]: { delayConfig: { delaySeconds: 10.5 } } }],
    ...[9, 604_801].map((batchWindowSeconds): [string, object] => [
      `${at}.batchConfig.user.batchWindowSeconds must be an integer between 10 and 604800.`,
      { [at]: { batchConfig: { user: { batchWindowSeconds } } } },
    ]),
    ...[1, 51].map((maxActivities): [string, object] => [
      `${at}.batchConfig.document.maxActivities must be an integer between 2 and 50.`,
      { [at]: { batchConfig: { document: { maxActivities } } } },
    ]),
  ])('[5.2] [5.2.2] [0.3] update refuses a faulty body: %s', async (message, data) => {
    const { change, config } = await tenant()
    const before = await config()
    expect(await change(data)).toMatchObject({
      status: 400,
      body: { error: { status: 'INVALID_ARGUMENT', message } },
    })
    expect(await config()).toEqual(before)
  })

  test('[0.1.3] [0.7.10] update ignores unknown keys and keys that would reach a prototype', async () => {
    const { headers, config } = await tenant()
    const body = `{"data":{"notificationServiceConfig":{"junk":1,"__proto__":{"delayConfig":{"isEnabled":true}},
      "delayConfig":{"delaySeconds":30,"junk":"x"},"batchConfig":{"other":{},"user":{"constructor":1}}}}}`
    const answer = await server.post(update, body, headers)
    expect(answer.body.result.data.notificationServiceConfig).toEqual({
      delayConfig: { delaySeconds: 30 },
      batchConfig: { user: {} },
    })
    expect((await config()).notificationServiceConfig).toEqual({
      ...defaults,
      delayConfig: { isEnabled: false, delaySeconds: 30 },
    })
  })

  test('[0.2.1] two API keys have separate notification settings', async () => {
    const one = await tenant()
    const other = await tenant()
    await one.client.notificationServiceConfig.update({
      useNotificationService: false,
      notificationServiceConfig: { delayConfig: { isEnabled: true } },
    })
    expect(await other.config()).toEqual({
      useNotificationService: true,
      notificationServiceConfig: defaults,
    })
  })
})
