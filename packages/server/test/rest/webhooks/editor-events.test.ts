import type { Event } from '@plenum/protocol'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { writeSettings } from '../../../src/access/credentials/service-settings.ts'
import { readWebhookData } from '../../../src/deliveries/webhooks/read-webhook-data.ts'
import type { EditorEvent } from '../../../src/events/consumer.ts'
import { announceEditor } from '../../../src/jobs/announce-editor.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import * as apiKeys from '../../../src/store/api-keys.ts'
import * as editors from '../../../src/store/editors/editors.ts'
import * as editorLog from '../../../src/store/editors/log.ts'
import * as jobs from '../../../src/store/jobs.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import * as given from '../../support/given.ts'
import { startServer, stores, type TestServer, useServer } from '../../support/harness.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { webhookDeps } from './scene.ts'
import { ownSignals } from '../../support/servers/peers.ts'

const document = { organizationId: 'org_1', documentId: 'doc_1' }
const editor = { ...document, editorId: 'note' }
const text = (data: string, editorId = 'note') => ({ ...document, editorId, data, type: 'text' as const })
const lane = jobs.laneOf('crdt.changed')

/** A tenant with a document, whose webhook has this trigger. */
async function tenantWith(server: TestServer, isOn: boolean) {
  const owner = await given.tenant(server)
  const { data } = await owner.client.apiKeys.create({
    ownerEmail: 'owner@example.com',
    type: 'testing',
    useWebhookService: true,
    webhookServiceConfig: { triggers: { 'crdt.update_data': isOn } },
  })
  const tenant = await given.keyOf(server, owner, data.apiKey)
  await given.document(tenant)
  const { client, apiKey } = tenant
  const events = async (): Promise<Event[]> =>
    (await client.events.get({ names: ['crdt.update_data'] })).data.events
  /** The jobs that announce changes. Another one then finds the webhooks that are called. */
  const waiting = () =>
    server.database.read
      .selectFrom('jobs')
      .selectAll()
      .where('api_key', '=', apiKey)
      .where('kind', '=', 'crdt.changed')
      .execute()
  return { ...tenant, events, waiting }
}

/** As a consumer gets it. */
const recorded = ({ actor, payload }: Event): EditorEvent => ({
  name: 'crdt.update_data',
  ...editor,
  editorId: (payload as { crdtData: { id: string } }).crdtData.id,
  platform: actor ? 'sdk' : 'rest',
  actorId: actor?.userId,
  notifies: true,
  payload,
})

describe.each(stores)('events about changed editors on %s', (store) => {
  const server = useServer(store, { jobPollMs: 20 })
  const step = (ms: number) => void (server.clock.offsetMs += ms)

  test('[24.2.1] changes of REST and of live clients within 5 s are one event, and later changes another', async () => {
    const tenant = await tenantWith(server, true)
    const { client, events, waiting } = tenant
    await client.crdt.add(text('one'))
    const [job, ...others] = await waiting()
    expect(others).toEqual([])
    expect((job?.run_at ?? 0) - (job?.created_at ?? 0)).toBe(5_000)
    const ada = yjsClient(server, await tokenFor(tenant))
    await synced(ada)
    ada.text.insert(0, 'typed ')
    await eventually(async () => (await client.crdt.get(editor)).data[0]?.data).toBe('typed one')
    expect(await waiting()).toEqual([job])
    step(5_000)
    await eventually(events).toHaveLength(1)
    expect(await events()).toMatchObject([
      {
        ...document,
        actor: { userId: 'ada' },
        payload: { crdtData: { id: 'note', lastUpdatedBy: 'ada', sessionId: expect.any(String) } },
      },
    ])
    expect(await waiting()).toEqual([])
    await client.crdt.update(text('two'))
    expect(await waiting()).toHaveLength(1)
    step(5_000)
    await eventually(events).toHaveLength(2)
    expect((await events())[1]).not.toHaveProperty('actor')
  })

  test('[24.2.1] restoring a version announces a change, and content that stays equal does not', async () => {
    const { client, events, waiting } = await tenantWith(server, true)
    await client.crdt.add(text('one'))
    const { data } = await client.crdtVersions.add({ ...editor, name: 'first' })
    await client.crdt.update(text('two'))
    step(5_000)
    await eventually(events).toHaveLength(1)
    await client.crdt.update(text('two'))
    expect(await waiting()).toEqual([])
    await client.crdtVersions.restore({ ...editor, versionId: data.versionId })
    expect(await waiting()).toHaveLength(1)
  })

  test('[24.2.2] without a webhook that wants the event nothing is stored, and changed settings apply at once', async () => {
    const { client, apiKey, waiting } = await tenantWith(server, false)
    await client.crdt.add(text('one'))
    expect(await waiting()).toEqual([])
    const settings = { enabled: true, config: { triggers: { 'crdt.update_data': true } }, credential: '' }
    await server.database.write((db) => writeSettings(db, server.secrets, apiKey, 'webhook', settings))
    server.bus.publish({ kind: 'webhooks', apiKey })
    await client.crdt.update(text('two'))
    expect(await waiting()).toHaveLength(1)
  })

  test('[24.2.3] the webhook has the content as Get CRDT Data returns it', async () => {
    const tenant = await tenantWith(server, true)
    const { client, events } = tenant
    await client.crdt.add({ ...editor, data: { a: [1, 'x'] }, type: 'map' })
    step(5_000)
    await eventually(events).toHaveLength(1)
    const [event] = (await events()) as [Event]
    const deps = webhookDeps(server)
    const { key } = (await apiKeys.find(server.database.read, tenant.apiKey)) as { key: apiKeys.ApiKey }
    const read = () => readWebhookData(deps, key, { ...recorded(event), webhookId: 'msg_1' })
    const data = await read()
    expect(data).toMatchObject({ event: 'crdt.update_data', platform: 'rest', accessDeniedUsers: [] })
    expect(data).not.toHaveProperty('actionUser')
    expect([data.crdtData]).toEqual((await client.crdt.get(editor)).data)

    await client.crdt.update({ ...editor, data: { long: 'é'.repeat(140_000) }, type: 'map' })
    const large = await read()
    expect(large.crdtData).toMatchObject({ id: 'note', lastUpdatedBy: 'rest-api', isDataOmitted: true })
    expect(large.crdtData).not.toHaveProperty('data')
    await client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    expect((await read()).crdtData).toEqual({
      ...(event.payload as { crdtData: object }).crdtData,
      isDataOmitted: true,
    })
  })
})

describe.each(stores)('announcing changes of editors on %s', (store) => {
  // The server never looks for the jobs that a test claims.
  const server = useServer(store, { jobPollMs: 1_000_000 })

  /** A change that is about to be announced. */
  async function scene() {
    const tenant = await tenantWith(server, true)
    const { apiKey, client, events, waiting } = tenant
    await client.crdt.add(text('one'))
    const now = Date.now() + 5_000
    const claim = async () =>
      (await jobs.claim(server.database, { apiKey, lane }, now))[0] as jobs.Job<'crdt.changed'>
    const run = async (job: jobs.Job<'crdt.changed'>) =>
      announceEditor.run({
        database: server.database,
        job,
        now,
        clock: systemClock,
        signals: ownSignals(server.database).of(apiKey),
        wake: () => {},
        stopping: new AbortController().signal,
      })
    /** Stores a change of Grace, and commits when `before` resolves. */
    const append = (before: () => Promise<void>) =>
      server.database.write(async (db) => {
        const writer = { userId: 'grace', sessionId: null }
        const entry = { apiKey, editor, update: Uint8Array.of(0, 0), writer, create: null, owners: [] }
        await editorLog.append(db, [entry], Date.now(), new Set([apiKey]))
        await before()
      }, apiKey)
    return { apiKey, events, waiting, claim, run, append }
  }

  const gate = () => {
    let open = () => {}
    const opened = new Promise<void>((resolve) => (open = resolve))
    return { open, opened }
  }

  /** Waits until the work waits for a lock of another transaction, or has ended. On SQLite a writer waits for the other one. */
  const blocked = async (work: Promise<unknown>) => {
    let hasEnded = false
    void work.finally(() => (hasEnded = true))
    const isWaiting = async () => {
      const { rows } = await sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        server.database.read,
      )
      return rows.length > 0
    }
    await eventually(async () => store === 'sqlite' || hasEnded || isWaiting()).toBe(true)
  }

  test('[24.2.1] a change that is being stored while the job runs is part of its event', async () => {
    const { events, waiting, claim, run, append } = await scene()
    const job = await claim()
    const [started, commit] = [gate(), gate()]
    const appended = append(async () => {
      started.open()
      await commit.opened
    })
    await started.opened
    const announced = run(job)
    await blocked(announced)
    commit.open()
    await Promise.all([appended, announced])
    await eventually(events).toMatchObject([{ actor: { userId: 'grace' } }])
    expect(await waiting()).toEqual([])
  })

  test('[24.2.1] a change that waits for the job that announces the last one is announced too', async () => {
    const { apiKey, waiting, claim, append } = await scene()
    const job = await claim()
    const [locked, commit] = [gate(), gate()]
    const ended = server.database.write(async (db) => {
      await editors.lock(db, apiKey, editor, job.payload.createdAt)
      await jobs.finish(db, job)
      locked.open()
      await commit.opened
    }, apiKey)
    await locked.opened
    const appended = append(async () => {})
    await blocked(appended)
    commit.open()
    await Promise.all([ended, appended])
    expect(await waiting()).toHaveLength(1)
  })

  test('[24.2.1] a job that failed too often is tried again later', async () => {
    const { waiting, claim, events } = await scene()
    const job = await claim()
    await announceEditor.abandon({ database: server.database, job, now: job.runAt })
    // As the runner does after `abandon`.
    await server.database.write((db) => jobs.finish(db, job))
    expect(await waiting()).toMatchObject([{ run_at: job.runAt + 60_000, attempts: 0 }])
    expect(await events()).toEqual([])
  })
})

test.each(stores)('[24.2.1] a change is announced after the server was restarted, on %s', async (store) => {
  const first = await startServer(store, { jobPollMs: 20 })
  const { client, apiKey, authToken } = await tenantWith(first, true)
  await client.crdt.add(text('one'))
  const second = await first.restart()
  onTestFinished(() => second.stop())
  second.clock.offsetMs += 5_000
  const names: ['crdt.update_data'] = ['crdt.update_data']
  const again = second.client({ apiKey, authToken })
  await expect.poll(async () => (await again.events.get({ names })).data.events).toHaveLength(1)
})
