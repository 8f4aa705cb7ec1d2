import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createHousekeeping } from '../../src/jobs/housekeeping.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { createMetrics } from '../../src/platform/metrics/metrics.ts'
import { options as deliveryOptions, ref, scene } from '../deliveries/scene.ts'
import * as given from '../support/given.ts'
import { startServer, stores, type TestServer } from '../support/harness.ts'
import { metric } from '../support/measures/metrics-page.ts'
import { startTwoServers } from '../support/servers/two-servers.ts'
import { WebhookReceiver } from '../support/receivers/webhook-receiver.ts'

const hourMs = 60 * 60 * 1000

/** Calls an operation of the workspace until the server refuses it. Returns how many calls it allowed. */
async function callUntilRefused(call: () => Promise<unknown>): Promise<number> {
  let allowed = 0
  const isRefused = () =>
    call().then(
      () => void (allowed += 1),
      ({ status }: { status: string }) => status,
    )
  await expect.poll(isRefused, { interval: 200 }).toBe('RESOURCE_EXHAUSTED')
  return allowed
}

const credentialsOf = ({ workspaceId, workspaceAuthToken, apiKey, authToken }: given.Tenant) => ({
  workspaceId,
  workspaceAuthToken,
  apiKey,
  authToken,
})

const createWorkspace = (server: TestServer, name = 'x') =>
  server.post('/v2/workspace/create', { data: { ownerEmail: `${name}@example.com` } })

describe.each(['PostgreSQL', 'Redis'] as const)('servers connected by %s', (link) => {
  test('[B5] the calls of a workspace and of an API key on all servers count towards one limit', async () => {
    const limit = 20
    const env = {
      LIMIT_WORKSPACE_REQUESTS_PER_MINUTE: String(limit),
      LIMIT_API_KEY_REQUESTS_PER_MINUTE: String(limit),
    }
    const [a, b] = await startTwoServers(link, { env })
    const tenant = await given.tenant(a)
    const elsewhere = b.client(credentialsOf(tenant))
    for (const call of ['workspace', 'organizations'] as const) {
      // The tenant has read the auth token of its API key before, with one call of the workspace.
      for (let calls = call === 'workspace' ? 1 : 0; calls < limit; calls++) await tenant.client[call].get()
      expect(await callUntilRefused(() => elsewhere[call].get())).toBeLessThan(limit / 2)
      await expect(tenant.client[call].get()).rejects.toMatchObject({ status: 'RESOURCE_EXHAUSTED' })
    }
    expect(await metric(b, 'plenum_peer_messages_total', { direction: 'received' })).toBeGreaterThan(0)
    expect(await metric(b, 'plenum_peer_link_lag_seconds')).toBeGreaterThan(0)
    const logged = a.logged.map((line) => JSON.parse(line)).filter((entry) => entry.link !== undefined)
    expect(logged).toMatchObject([{ link, msg: 'connected to the other servers' }])
  })
})

describe('servers on PostgreSQL', () => {
  test('[B5.1] [B1.3] [B1.4] a server that cannot reach the others keeps serving, counts calls by itself, and logs this once', async () => {
    const env = {
      LIMIT_WORKSPACE_REQUESTS_PER_MINUTE: '5',
      REDIS_URL: 'redis://nobody:canary@127.0.0.1:1',
    }
    const a = await startServer('postgres', { env })
    onTestFinished(() => a.stop())
    const b = await startServer('postgres', { env, data: a.data })
    onTestFinished(() => b.stop())
    const tenant = await given.tenant(a)
    for (let calls = 1; calls < 5; calls++) await tenant.client.workspace.get()
    await expect(tenant.client.workspace.get()).rejects.toMatchObject({ status: 'RESOURCE_EXHAUSTED' })
    const elsewhere = b.client(credentialsOf(tenant))
    for (let calls = 0; calls < 5; calls++) await elsewhere.workspace.get()
    const warnings = () => a.logged.filter((line) => line.includes('cannot connect to the other servers'))
    await expect.poll(warnings).toHaveLength(1)
    expect(a.logged.join('\n')).not.toContain('canary')
    expect(await metric(a, 'plenum_peer_link_connected')).toBe(0)
  })

  test('[B5.2] Create Workspace counts the calls of an address on all servers', async () => {
    const env = { LIMIT_CREATE_WORKSPACE_PER_HOUR: '3' }
    const [a, b] = await startTwoServers('PostgreSQL', { env })
    const answers = await Promise.all([a, b, a, b, a, b].map((server) => createWorkspace(server)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 429, 429, 429])
  })

  test('[24.21.3] one of two servers takes half of the rate limit of a webhook endpoint', async () => {
    // Only the server that has stored the deliveries sends them: the other one would find them at its next poll.
    const [a] = await startTwoServers('PostgreSQL', { ...deliveryOptions, jobPollMs: hourMs })
    const { client, addEndpoint, deliveries } = await scene(a)
    const receiver = await WebhookReceiver.start()
    const at: number[] = []
    receiver.respond = (response) => {
      at.push(performance.now())
      response.end()
    }
    await addEndpoint({ url: receiver.url, rateLimit: 4 })
    const commentData = [{ commentText: 'x', from: { userId: 'ada' }, triggerNotification: true }]
    await client.commentAnnotations.add({
      ...ref,
      commentAnnotations: Array.from({ length: 5 }, (_, index) => ({
        annotationId: `a${index}`,
        commentData,
      })),
    })
    await expect.poll(async () => (await deliveries({ status: 'delivered' })).length).toBe(5)
    // Four waits of 500 ms. With the whole limit, they would be 250 ms.
    expect((at.at(-1) ?? 0) - (at[0] ?? 0)).toBeGreaterThan(1_800)
  })
})

describe.each(stores)('calls of an address on %s', (store) => {
  test('[B5.2] Create Workspace counts the calls of an hour over a restart, and stores no address', async () => {
    let server = await startServer(store, { env: { LIMIT_CREATE_WORKSPACE_PER_HOUR: '2' } })
    onTestFinished(() => server.stop())
    expect(await createWorkspace(server)).toMatchObject({ status: 200 })
    server = await server.restart()
    expect(await createWorkspace(server)).toMatchObject({ status: 200 })
    for (let calls = 0; calls < 2; calls++)
      expect(await createWorkspace(server)).toMatchObject({ status: 429 })

    const rows = () => server.database.read.selectFrom('address_calls').selectAll().execute()
    // The second refused call was not counted.
    expect(await rows()).toMatchObject([{ calls: 3 }])
    expect(JSON.stringify(await rows())).not.toContain('127.0.0.1')
    server.clock.offsetMs = hourMs
    expect(await createWorkspace(server)).toMatchObject({ status: 200 })
    expect(await rows()).toMatchObject([{ calls: 1 }])

    const prune = (afterMs: number) =>
      createHousekeeping({
        database: server.database,
        log: createLog('silent', { write: () => {} }),
        clock: { ...systemClock, now: () => Date.now() + hourMs + afterMs },
        observe: createMetrics().job,
        eventRetentionDays: 1,
      }).run()
    await prune(0)
    expect(await rows()).toHaveLength(1)
    await prune(hourMs)
    expect(await rows()).toEqual([])
  })

  test('[B5.3] a call that cannot be counted is refused with UNAVAILABLE and has no effect', async () => {
    const server = await startServer(store, {
      env: { LIMIT_CREATE_WORKSPACE_PER_HOUR: '2', LIMIT_LOGIN_LINKS_PER_HOUR: '2' },
    })
    onTestFinished(() => server.stop())
    await server.database.write((db) => sql`alter table address_calls rename to moved`.execute(db))
    for (const answer of [
      await createWorkspace(server),
      await server.post('/v2/workspace/email/status', { data: { ownerEmail: 'x@example.com' } }),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { error: { status: 'UNAVAILABLE' } } })
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    expect(await server.database.read.selectFrom('workspaces').select('workspace_id').execute()).toEqual([])
    await server.database.write((db) => sql`alter table moved rename to address_calls`.execute(db))
    expect(await createWorkspace(server)).toMatchObject({ status: 200 })
  })
})
