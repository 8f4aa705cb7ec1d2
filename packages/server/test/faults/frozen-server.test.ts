import { createClient } from '@plenum/client'
import { expect, onTestFinished, test } from 'vitest'
import { createPostgresDatabase, startServer } from '../support/harness.ts'
import { withProxiedPostgres } from '../support/faults/postgres-faults.ts'
import { startProcess } from '../support/processes/process.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'
import { WebhookReceiver } from '../support/receivers/webhook-receiver.ts'

/** Changes one organization without pause from many callers: these transactions write the same rows, and collide. */
function collide(client: ReturnType<typeof createClient>, organizationId: string, callers = 12) {
  let isRunning = true
  let answers = 0
  const done = Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let round = 0; isRunning; round++) {
        await client.organizations.update({ organizations: [{ organizationId, [`key${caller}`]: round }] })
        answers++
      }
    }),
  )
  // Calls in progress fail when the server is killed at the end of the test.
  done.catch(() => {})
  onTestFinished(() => void (isRunning = false))
  return {
    get answers() {
      return answers
    },
    stop: () => ((isRunning = false), done),
  }
}

type Server = Pick<ServerProcess, 'url'>

async function tenantOf({ url }: Server, ownerEmail: string) {
  const { data } = await createClient({ url }).workspace.create({ ownerEmail })
  const [apiKey] = Object.keys(data.apiKeyList) as [string]
  const workspace = { workspaceId: data.id, workspaceAuthToken: data.authToken }
  const tokens = await createClient({ url, ...workspace }).authTokens.get({ apiKey })
  const credentials = { apiKey, authToken: tokens.data.authTokens[0]?.token ?? '' }
  const clientAt = (server: Server) => createClient({ url: server.url, ...credentials, retries: 0 })
  await clientAt({ url }).organizations.add({ organizations: [{ organizationId: 'o' }] })
  return clientAt
}

test('[O2.5] [S1] a server that freezes in the middle of its transactions does not block another tenant on another server', async () => {
  const env = {
    SECRET_KEY: 'a secret key that only these tests use',
    DATABASE_URL: await createPostgresDatabase(),
  }
  const [frozen, healthy] = await Promise.all([startProcess('server', env), startProcess('server', env)])
  const one = await tenantOf(frozen, 'one@example.com')
  const other = await tenantOf(healthy, 'other@example.com')
  const frozenLoad = collide(one(frozen), 'o')
  await expect.poll(() => frozenLoad.answers).toBeGreaterThan(50)

  // What the server is doing at the moment of the freeze is random.
  for (let round = 0; round < 3; round++) {
    frozen.freeze()
    const load = collide(other(healthy), 'o')
    await expect.poll(() => load.answers).toBeGreaterThan(50)
    await load.stop()
    frozen.thaw()
    const before = frozenLoad.answers
    await expect.poll(() => frozenLoad.answers).toBeGreaterThan(before + 20)
  }
})

test('[S9.2] a server that is stopped while it sends a webhook stores nothing about it after another server has sent it', async () => {
  // Its clock is 10 times as fast. The lease of a job is 25 s of that clock.
  const env = {
    TEST_CLOCK_FROM: String(Date.now()),
    SECRET_KEY: 'a secret key that only these tests use',
    DATABASE_URL: await createPostgresDatabase(),
    OUTGOING_PRIVATE_ADDRESSES: 'allowed',
    LOG_LEVEL: 'warn',
  }
  const frozen = await startProcess('fastServer', env, { stdout: 'pipe' })
  let logged = ''
  frozen.child.stdout?.on('data', (chunk) => (logged += chunk))
  const clientAt = await tenantOf(frozen, 'owner@example.com')
  const client = clientAt(frozen)
  const ref = { organizationId: 'o', documentId: 'doc' }
  await client.documents.add({ organizationId: 'o', documents: [{ documentId: 'doc', documentName: 'Doc' }] })
  const receiver = await WebhookReceiver.start()
  // The first request gets no answer.
  receiver.respond = (response) => receiver.received.length > 1 && response.end()
  await client.advancedWebhookConfig.update({ isEnabled: true })
  await client.webhookEndpoints.create({ url: receiver.url })
  const comment = { commentText: 'Please check.', from: { userId: 'ada' }, triggerNotification: true }
  await client.commentAnnotations.add({ ...ref, commentAnnotations: [{ commentData: [comment] }] })
  await expect.poll(() => receiver.received.length).toBe(1)

  frozen.freeze()
  const other = clientAt(await startProcess('fastServer', env))
  const deliveries = async () => (await other.deliveries.get({})).data
  await expect.poll(deliveries).toMatchObject([{ status: 'delivered', attempts: 1 }])
  frozen.thaw()
  // Its own attempt fails without an answer.
  await expect.poll(() => logged).toContain('job was taken over by another server')
  expect(await deliveries()).toMatchObject([{ status: 'delivered', attempts: 1 }])
  expect(receiver.received).toHaveLength(2)
})

test('[O2.5] when a server falls silent in the middle of its transaction, another server can write to the same editor', async () => {
  const { proxy, tenant, server, databaseUrl } = await withProxiedPostgres()
  const healthy = await startServer('postgres', { data: { ...server.data, databaseUrl } })
  onTestFinished(() => healthy.stop())
  const { apiKey, authToken } = tenant
  const other = healthy.client({ apiKey, authToken })
  const editor = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note', type: 'text' as const }
  await tenant.client.crdt.add({ ...editor, contentKey: 'content', data: 'one' })
  const commit = proxy.hold('commit')
  const silent = tenant.client.crdt
    .update({ ...editor, data: 'of the silent server' })
    .catch((error: unknown) => error)
  await commit.arrived
  await other.crdt.update({ ...editor, data: 'of the other server' })
  commit.release()
  expect(await silent).toMatchObject({ status: 'UNAVAILABLE' })
  expect((await other.crdt.get(editor)).data[0]?.data).toBe('of the other server')
})
