import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Client } from '@plenum/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'
import { WebhookReceiver } from '../support/receivers/webhook-receiver.ts'

const guide = readFileSync(resolve(import.meta.dirname, '../../../../docs/guides/webhooks.md'), 'utf8')
const codeIn = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, code = '']) => code)
const [receiver = '', decrypt = ''] = codeIn('js')
const [createEndpoint = '', addComment = '', repeatFailed = '', rotateSecret = ''] = codeIn('ts')

/** Runs a program of the guide as it is written there. */
function run(code: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: import.meta.dirname,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  return child
}

/** Runs calls of the guide as they are written there. Returns what they print, and the endpoint that they create. */
async function call(code: string, client: Client, endpoint?: { id: string }) {
  const printed: unknown[][] = []
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor
  const names = endpoint ? ['client', 'console', 'endpoint'] : ['client', 'console']
  const calls = new AsyncFunction(
    ...names,
    `${code}\nreturn typeof endpoint === 'object' ? endpoint : undefined`,
  )
  const result: { id: string } = await calls(
    client,
    { log: (...line: unknown[]) => printed.push(line) },
    endpoint,
  )
  return { printed, endpoint: result }
}

describe.each(stores)('the guide to webhooks on %s', (store) => {
  const server = useServer(store, { jobPollMs: 20, env: { WEBHOOK_ALLOW_CIDR: '127.0.0.0/8' } })

  test('[24.8] [24.19] [28.2] the receiver of the guide verifies each delivery and handles it once, also those that the calls of the guide repeat', async () => {
    const { client } = await given.tenant(server)
    const documents = [{ documentId: 'roadmap' }]
    await client.documents.add({ organizationId: 'acme', createOrganization: true, documents })
    const broken = await WebhookReceiver.start()
    broken.answerWith(410)
    const created = await call(createEndpoint.replace('https://example.com/hooks', broken.url), client)
    const { endpoint } = created
    const [[secret] = []] = created.printed
    const target = endpoint.id
    const deliveries = async () => (await client.deliveries.get({ target })).data
    await call(addComment, client)
    await expect.poll(deliveries).toMatchObject([{ status: 'failed', lastStatusCode: 410 }])
    broken.stop()
    await client.webhookEndpoints.update({ endpointId: target, disabled: false })

    const child = run(receiver, { WEBHOOK_SECRET: String(secret), PORT: new URL(broken.url).port })
    let received = ''
    child.stdout.on('data', (chunk) => (received += String(chunk)))
    const postUnsigned = () =>
      fetch(broken.url, { method: 'POST', body: '{}' }).then(
        ({ status }) => status,
        () => 'not started',
      )
    await expect.poll(postUnsigned, { timeout: 30_000 }).toBe(400)
    const { printed } = await call(repeatFailed, client, endpoint)
    expect(printed).toEqual([['comment_annotation.add', 1, expect.stringContaining('HTTP 410')]])
    await expect.poll(deliveries).toMatchObject([{ status: 'delivered', lastStatusCode: 204 }])
    const [first] = await deliveries()
    await client.deliveries.retry({ deliveryIds: [first?.deliveryId ?? ''] })
    await call(rotateSecret, client, endpoint)
    await call(addComment, client)
    const delivered = { status: 'delivered', lastStatusCode: 204 }
    await expect.poll(deliveries).toMatchObject([delivered, delivered])
    const [newest] = await deliveries()
    const lines = [first, newest].map((one) => `${one?.messageId} comment_annotation.add\n`)
    await expect.poll(() => received).toBe(lines.join(''))
  })

  test('[24.7] the program of the guide decrypts a body', async () => {
    const { client } = await given.tenant(server)
    const documents = [{ documentId: 'roadmap' }]
    await client.documents.add({ organizationId: 'acme', createOrganization: true, documents })
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const { url, received } = await WebhookReceiver.start()
    await client.advancedWebhookConfig.update({ isEnabled: true, encryptData: true, publicKey })
    await client.webhookEndpoints.create({ url })
    await call(addComment, client)
    await expect.poll(() => received).toHaveLength(1)
    const body = String(received[0]?.body)
    expect(Object.keys(JSON.parse(body)).toSorted()).toEqual(['encryptedData', 'encryptedKey', 'iv'])
    const { stdout } = run(
      `${decrypt}\nconsole.log(JSON.stringify(decrypt(JSON.parse(process.env.BODY), process.env.KEY)))`,
      { BODY: body, KEY: privateKey },
    )
    expect(JSON.parse(await text(stdout))).toMatchObject({
      event: 'comment_annotation.add',
      data: { metadata: { document: { documentId: 'roadmap' } } },
    })
  })
})
