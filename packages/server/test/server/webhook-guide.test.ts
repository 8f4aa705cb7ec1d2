import { spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished, expect, test } from 'vitest'
import { sealBody } from '../../src/deliveries/webhooks/seal-body.ts'
import { sendWebhook } from '../../src/deliveries/webhooks/send-webhook.ts'
import { signedHeaders } from '../../src/deliveries/webhooks/signatures.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createOutgoingPost } from '../../src/platform/outgoing/outgoing-post.ts'

const guide = readFileSync(resolve(import.meta.dirname, '../../../../docs/guides/webhooks.md'), 'utf8')
const [receiver = '', decrypt = ''] = [...guide.matchAll(/^```js\n([^]*?)^```/gm)].map(([, code]) => code)

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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((onClosed) => server.close(onClosed))
  return port
}

const post = createOutgoingPost({ clock: systemClock, privateAddresses: 'allowed' })
const deps = { post, signal: new AbortController().signal }

test('[24.8] [24.21.6] the receiver of the guide accepts signed deliveries, handles each once and refuses others', async () => {
  const [secret, previous] = [randomBytes(32), randomBytes(32)].map(
    (key) => `whsec_${key.toString('base64')}`,
  )
  const port = await freePort()
  const child = run(receiver, { WEBHOOK_SECRET: previous!, PORT: String(port) })
  let printed = ''
  child.stdout.on('data', (chunk) => (printed += String(chunk)))
  const deliver = (id: string, secrets: string[]) => {
    const body = JSON.stringify({ event: 'comment.add', webhookId: id })
    const headers = signedHeaders({ id, now: Date.now(), body }, secrets)
    return sendWebhook(deps, { url: `http://127.0.0.1:${port}/`, headers, body })
  }
  const accepted = { kind: 'delivered', code: 204 }
  // The first delivery is tried again until the receiver listens.
  await expect.poll(() => deliver('msg_1', [previous!]), { timeout: 30_000 }).toMatchObject(accepted)
  expect(await deliver('msg_1', [previous!])).toMatchObject(accepted)
  expect(await deliver('msg_2', [secret!, previous!])).toMatchObject(accepted)
  expect(await deliver('msg_3', [secret!])).toMatchObject({ kind: 'failed', code: 400 })
  await expect.poll(() => printed).toBe('msg_1 comment.add\nmsg_2 comment.add\n')
})

test('[24.7] the program of the guide decrypts a body', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const body = sealBody({ event: 'comment.add' }, { encryptData: true, publicKey })
  const { stdout } = run(
    `${decrypt}\nconsole.log(JSON.stringify(decrypt(JSON.parse(process.env.BODY), process.env.KEY)))`,
    { BODY: body, KEY: privateKey },
  )
  expect(JSON.parse(await text(stdout))).toEqual({ event: 'comment.add' })
})
