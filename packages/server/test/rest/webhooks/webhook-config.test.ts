import { generateKeyPairSync } from 'node:crypto'
import { defaultTriggers } from '@plenum/protocol'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const path = '/v2/workspace/webhookconfig'
const invalid = {
  status: 400,
  body: { error: { status: 'INVALID_ARGUMENT', message: 'Invalid webhook service configuration.' } },
}
const unset = { authToken: '', rawNotificationUrl: '', processedNotificationUrl: '' }
const authToken = 'a-token-of-the-receiver'
const rawNotificationUrl = 'https://example.com/raw'

const keyOf = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ type: 'spki', format: 'pem' }).toString()
const pem = keyOf(2048)
const publicKey = pem.replaceAll(/-----[A-Z ]+-----|\s/g, '')
const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .publicKey.export({ type: 'spki', format: 'der' })
  .toString('base64')

describe.each(stores)('webhook config on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const tenant = async () => {
    const found = await given.tenant(server)
    return {
      ...found,
      change: (data: unknown) => server.post(`${path}/update`, { data }, found.headers),
      config: async () => (await found.client.webhookConfig.get()).data,
    }
  }

  test('[24.10] [0.1.2] get needs no body, and returns the defaults when nothing is stored', async () => {
    const { headers } = await tenant()
    const { body } = await server.post(`${path}/get`, '', headers)
    expect(body).toEqual({
      result: {
        status: 'success',
        message: 'Webhook configuration retrieved successfully.',
        data: { useWebhookService: false, webhookServiceConfig: unset },
      },
    })
  })

  test('[24.11] update merges what is sent, also inside triggers, and answers the settings as get does', async () => {
    const { client, config } = await tenant()
    await client.webhookConfig.update({
      webhookServiceConfig: { authToken, rawNotificationUrl: ` ${rawNotificationUrl} `, encodeData: true },
    })
    await client.webhookConfig.update({ webhookServiceConfig: { triggers: { 'comment.add': true } } })
    const { data, message } = await client.webhookConfig.update({
      useWebhookService: true,
      webhookServiceConfig: {
        processedNotificationUrl: 'http://example.com/processed',
        triggers: { comment: { added: false, newlyAdded: true } },
      },
    })
    expect(message).toBe('Webhook configuration updated successfully.')
    expect(data).toEqual({
      useWebhookService: true,
      webhookServiceConfig: {
        authToken: 'a-t...ver',
        rawNotificationUrl,
        processedNotificationUrl: 'http://example.com/processed',
        encodeData: true,
        triggers: { 'comment.add': false, 'comment_annotation.add': true },
      },
    })
    expect(await config()).toEqual(data)
    await client.webhookConfig.update({ useWebhookService: false })
    expect(await config()).toEqual({ ...data, useWebhookService: false })
  })

  test('[24.11.1] [24.4] enabling the webhooks without triggers turns on the default triggers, once', async () => {
    const { client, config } = await tenant()
    await client.webhookConfig.update({ useWebhookService: true })
    expect(await config()).toEqual({
      useWebhookService: true,
      webhookServiceConfig: { ...unset, enableDataProtection: false, triggers: defaultTriggers.webhook },
    })
    await client.webhookConfig.update({
      webhookServiceConfig: { enableDataProtection: true, triggers: { 'comment.add': false } },
    })
    await client.webhookConfig.update({ useWebhookService: false })
    await client.webhookConfig.update({ useWebhookService: true })
    expect((await config()).webhookServiceConfig).toMatchObject({
      enableDataProtection: true,
      triggers: { 'comment.add': false, 'comment.update': true },
    })
  })

  test('[24.11.1] triggers that are sent with the call that enables the webhooks, or before it, replace the default triggers', async () => {
    const [one, two] = [await tenant(), await tenant()]
    const triggers = { 'comment.add': true }
    await one.client.webhookConfig.update({ useWebhookService: true, webhookServiceConfig: { triggers } })
    expect((await one.config()).webhookServiceConfig.triggers).toEqual(triggers)
    await two.client.webhookConfig.update({ webhookServiceConfig: { triggers } })
    await two.client.webhookConfig.update({ useWebhookService: true })
    expect((await two.config()).webhookServiceConfig.triggers).toEqual(triggers)
  })

  test('[24.10] [24.11] the auth token is stored sealed, no answer or log line contains it, and the mask keeps it', async () => {
    const { client, change, config, apiKey } = await tenant()
    const canary = 'canary-Zq81xKw77-never-in-clear'
    await client.webhookConfig.update(
      { useWebhookService: true, webhookServiceConfig: { authToken: canary } },
      { idempotencyKey: 'canary' },
    )
    await client.webhookConfig.update(await config())
    await change({ webhookServiceConfig: { authToken: `${canary}\n` } })
    const row = await server.database.read
      .selectFrom('service_configs')
      .select(['config', 'secret'])
      .where('api_key', '=', apiKey)
      .executeTakeFirstOrThrow()
    expect(server.secrets.unseal(row.secret!, `service_configs/${apiKey}/webhook`).toString()).toBe(canary)
    expect(row.config).not.toContain('canary')
    for (const line of server.logged) expect(line).not.toContain(canary)
    await client.webhookConfig.update({ webhookServiceConfig: { authToken: '' } })
    expect((await config()).webhookServiceConfig.authToken).toBe('')
  })

  test.each<[fault: string, config: unknown]>([
    ['a configuration that is no object', 'on'],
    ['an auth token of two lines', { authToken: 'a\nX-Injected: 1' }],
    ['an auth token that no header can carry', { authToken: '€' }],
    ['a URL that is none', { rawNotificationUrl: 'example.com' }],
    ['a URL of another protocol', { rawNotificationUrl: 'ftp://example.com' }],
    ['a URL with a password', { processedNotificationUrl: 'https://u:p@example.com' }],
    ['a URL with a port of another protocol', { processedNotificationUrl: 'http://example.com:25' }],
    ['a URL with a private address', { rawNotificationUrl: 'http://0x7f.1/' }],
    ['a public key that is none', { publicKey: 'AAAA' }],
    ['a public key that is not Base64', { publicKey: '{}' }],
    ['a public key of an elliptic curve', { publicKey: ecKey }],
    ['an RSA key that is too short', { publicKey: keyOf(512) }],
    ['encryption without a key', { encryptData: true }],
    ['a trigger of an unknown event', { triggers: { 'comment.explode': true } }],
    ['a trigger that is no boolean', { triggers: { 'comment.add': 'yes' } }],
  ])('[24.11] update refuses %s', async (_fault, webhookServiceConfig) => {
    const { change, config } = await tenant()
    expect(await change({ useWebhookService: true, webhookServiceConfig })).toMatchObject(invalid)
    expect(await config()).toEqual({ useWebhookService: false, webhookServiceConfig: unset })
  })

  test('[24.11] update accepts a public key with and without the lines of PEM, and refuses to remove it while payloads are encrypted', async () => {
    const { change, config } = await tenant()
    for (const key of [publicKey, pem, keyOf(1024)]) {
      const data = { webhookServiceConfig: { publicKey: key, encryptData: true } }
      expect(await change(data)).toMatchObject({ status: 200 })
    }
    expect(await change({ webhookServiceConfig: { publicKey: '' } })).toMatchObject(invalid)
    const off = { webhookServiceConfig: { publicKey: '', encryptData: false } }
    expect(await change(off)).toMatchObject({ status: 200 })
    expect((await config()).webhookServiceConfig).toMatchObject({ publicKey: '', encryptData: false })
  })

  test('[24.11] update requires at least one of its fields', async () => {
    const { change } = await tenant()
    expect(await change({})).toMatchObject({
      status: 400,
      body: {
        error: {
          status: 'INVALID_ARGUMENT',
          message: 'At least one of useWebhookService or webhookServiceConfig must be provided',
        },
      },
    })
  })

  test('[24.12] [24.13] advanced webhooks are off until a call enables them, and its settings are then replaced one by one', async () => {
    const { client } = await tenant()
    const off = {
      isEnabled: false,
      encryptData: false,
      encodeData: false,
      publicKey: '',
      enableDataProtection: false,
    }
    expect(await client.advancedWebhookConfig.get()).toMatchObject({
      message: 'Advanced webhook configuration retrieved successfully.',
      data: off,
    })
    const notConfigured = {
      status: 'FAILED_PRECONDITION',
      message:
        'Advanced webhooks are not configured for this workspace. Enable them first via POST /v2/workspace/advancedwebhookconfig/update with { "isEnabled": true }.',
    }
    await expect(client.advancedWebhookConfig.update({ encodeData: true })).rejects.toMatchObject(
      notConfigured,
    )
    await expect(client.advancedWebhookConfig.update({ isEnabled: false })).rejects.toMatchObject(
      notConfigured,
    )
    const { data } = await client.advancedWebhookConfig.update({ isEnabled: true, encodeData: true })
    expect(data).toEqual({ ...off, isEnabled: true, encodeData: true })
    await client.advancedWebhookConfig.update({ publicKey: ` ${publicKey}\n`, encryptData: true })
    await client.advancedWebhookConfig.update({ isEnabled: false, enableDataProtection: true })
    expect((await client.advancedWebhookConfig.get()).data).toEqual({
      isEnabled: false,
      encodeData: true,
      encryptData: true,
      publicKey,
      enableDataProtection: true,
    })
  })

  test('[24.13] the update of advanced webhooks refuses a call without settings, a wrong key and encryption without a key', async () => {
    const { client } = await tenant()
    await client.advancedWebhookConfig.update({ isEnabled: true })
    const refused = (message: string) => ({ status: 'INVALID_ARGUMENT', message })
    await expect(client.advancedWebhookConfig.update({})).rejects.toMatchObject(
      refused(
        'At least one of isEnabled, encryptData, encodeData, publicKey or enableDataProtection must be provided.',
      ),
    )
    await expect(client.advancedWebhookConfig.update({ publicKey: ecKey })).rejects.toMatchObject(
      refused('publicKey must be an RSA public key in Base64.'),
    )
    await expect(client.advancedWebhookConfig.update({ encryptData: true })).rejects.toMatchObject(
      refused('encryptData requires publicKey.'),
    )
  })

  test('[0.2.1] two API keys have separate webhook settings', async () => {
    const [one, other] = [await tenant(), await tenant()]
    await one.client.webhookConfig.update({ useWebhookService: true, webhookServiceConfig: { authToken } })
    await one.client.advancedWebhookConfig.update({ isEnabled: true })
    expect(await other.config()).toEqual({ useWebhookService: false, webhookServiceConfig: unset })
    expect((await other.client.advancedWebhookConfig.get()).data).toMatchObject({ isEnabled: false })
  })
})

describe.each<[env: Record<string, string>, allowed: boolean[]]>([
  [{}, [false, false]],
  [{ WEBHOOK_ALLOW_CIDR: '10.20.0.0/16' }, [true, false]],
  [{ OUTGOING_PRIVATE_ADDRESSES: 'allowed' }, [true, true]],
])('private addresses with the settings %j', (env, allowed) => {
  const server = useServer('sqlite', { env })

  test('[N1.3] [N1.4] webhook URLs are accepted where the settings allow their address', async () => {
    const { client } = await given.tenant(server)
    await client.advancedWebhookConfig.update({ isEnabled: true })
    for (const [index, url] of ['http://10.20.0.1:8080/', 'http://10.21.0.1/'].entries()) {
      const calls = [
        client.webhookConfig.update({ webhookServiceConfig: { rawNotificationUrl: url } }),
        client.webhookEndpoints.create({ url }),
        client.apiKeys.create({
          ownerEmail: 'owner@example.com',
          type: 'testing',
          webhookServiceConfig: { processedNotificationUrl: url },
        }),
      ]
      const results = await Promise.allSettled(calls)
      const expected = allowed[index] ? 'fulfilled' : 'rejected'
      expect(results.map(({ status }) => status)).toEqual(calls.map(() => expected))
    }
  })
})
