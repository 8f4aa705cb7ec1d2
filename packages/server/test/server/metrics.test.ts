import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { operations } from '@plenum/protocol'
import * as given from '../support/given.ts'
import { startServer, stores, useServer } from '../support/harness.ts'
import { synced } from '../support/clients/convergence.ts'
import { hocuspocusClient, saved } from '../support/clients/hocuspocus-client.ts'
import { RawSocket } from '../support/clients/raw-socket.ts'
import { yjsClient } from '../support/clients/yjs-client.ts'
import { tokenFor } from '../support/access/user-tokens.ts'
import { metric, metricsOf } from '../support/measures/metrics-page.ts'
import { RealtimeSocket } from '../support/clients/realtime-socket.ts'

const packageOfServer = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** Polls, because metrics are rendered at most twice a second. */
const eventually = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 30_000, interval: 100 })

describe.each(stores)('/metrics on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const value = (name: string, labels?: Record<string, string>) =>
    eventually(() => metric(server, name, labels))

  test('[M1] names, units, HELP and TYPE of every metric follow the conventions of Prometheus', async () => {
    await given.tenant(server)
    await value('plenum_http_request_duration_seconds_count').toBeGreaterThan(0)
    await value('plenum_database_size_bytes').toBeGreaterThan(0)
    const response = await fetch(`${server.url}/metrics`)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const families = await metricsOf(server)
    const named = (test: (family: (typeof families)[number]) => boolean) =>
      families.filter(test).map(({ name }) => name)
    expect(families.length).toBeGreaterThan(30)
    expect(named(({ help }) => help.trim() === '')).toEqual([])
    expect(named(({ name }) => !/^(plenum|nodejs|process)_[a-z0-9_]+$/.test(name))).toEqual([])
    expect(named(({ type, name }) => (type === 'counter') !== name.endsWith('_total'))).toEqual([])
    expect(named(({ type, name }) => type === 'histogram' && !name.endsWith('_seconds'))).toEqual([])
    expect(named(({ name }) => /_(ms|milliseconds|kb|mb|percent)(_|$)/.test(name))).toEqual([])
  })

  test('[M1] /metrics counts requests by operation and HTTP status code, and times them by the class of the code', async () => {
    const { client } = await given.tenant(server)
    await client.organizations.get()
    await client.organizations.get()
    await client.organizations.get({ pageSize: 0 }).catch(() => {})
    const name = 'plenum_http_request_duration_seconds'
    const operation = 'organizations.get'
    await value('plenum_http_requests_total', { operation, code: '200' }).toBe(2)
    await value('plenum_http_requests_total', { operation, code: '400' }).toBe(1)
    await value(`${name}_count`, { operation, status: '2xx' }).toBe(2)
    await value(`${name}_bucket`, { operation, status: '2xx', le: '+Inf' }).toBe(2)
    await value(`${name}_count`, { operation, status: '4xx' }).toBe(1)
    await value(`${name}_sum`, { operation }).toBeGreaterThan(0)
  })

  test('[M1.3] [0.4.1] a batch of which items failed counts as 207, although the interface answers it with 500', async () => {
    const { client, headers } = await given.tenant(server)
    const domains = { domains: ['example.com'] }
    await client.domains.add(domains)
    const { status } = await server.post('/v2/workspace/domains/add', { data: domains }, headers)
    expect(status).toBe(500)
    const operation = 'domains.add'
    await value('plenum_http_requests_total', { operation, code: '207' }).toBe(1)
    await value('plenum_http_requests_total', { operation, code: '500' }).toBe(undefined)
  })

  test('[M1] plenum_build_info has the versions of Plenum and Node and the kind of database', async () => {
    const info = (await metricsOf(server)).find(({ name }) => name === 'plenum_build_info')
    const { version } = packageOfServer
    const labels = { version, node_version: process.versions.node, database: store }
    expect(info?.samples).toEqual([{ name: 'plenum_build_info', labels, value: 1 }])
  })

  test('[M1] /metrics shows the durations of statements and commits, for SQLite also of syncs, and the lag of the event loop', async () => {
    const before = (await metric(server, 'plenum_database_commit_duration_seconds_count')) ?? 0
    const tenant = await given.tenant(server)
    await given.organization(tenant)
    await value('plenum_database_statement_duration_seconds_count').toBeGreaterThan(2)
    await value('plenum_database_commit_duration_seconds_count').toBeGreaterThanOrEqual(before + 2)
    const syncs = value('plenum_database_sync_duration_seconds_count')
    await (store === 'sqlite' ? syncs.toBeGreaterThan(0) : syncs.toBe(0))
    await value('nodejs_eventloop_lag_seconds').toBeGreaterThanOrEqual(0)
    await value('nodejs_eventloop_lag_p99_seconds').toBeGreaterThan(0)
  })

  test('[M1] /metrics shows the size of the database, and for SQLite also the size of its log', async () => {
    await value('plenum_database_size_bytes', { part: 'data' }).toBeGreaterThan(0)
    const log = value('plenum_database_size_bytes', { part: 'log' })
    await (store === 'sqlite' ? log.toBeGreaterThan(0) : log.toBe(undefined))
  })

  test('[M1] /metrics counts open documents and editors, connections by dialect, and closes by dialect and code', async () => {
    const token = await tokenFor(await given.tenant(server))
    const ada = yjsClient(server, token)
    const hal = hocuspocusClient(server, token)
    await synced(ada, hal)
    for (const dialect of ['yjs', 'hocuspocus']) {
      await value('plenum_websocket_connections', { dialect }).toBe(1)
    }
    await value('plenum_websocket_connections', { dialect: 'realtime' }).toBe(0)
    await value('plenum_open_documents').toBe(1)
    await value('plenum_open_editors').toBe(1)
    ada.provider.destroy()
    await value('plenum_websocket_connections', { dialect: 'yjs' }).toBe(0)
    await value('plenum_websocket_closes_total', { dialect: 'yjs' }).toBe(1)

    const refused = new RawSocket(server, '/yjs/o/d/e?token=wrong')
    expect(await refused.closed).toMatchObject({ code: 4401 })
    await value('plenum_websocket_closes_total', { dialect: 'yjs', code: '4401' }).toBe(1)
    const client = await RealtimeSocket.connect(server, token)
    client.socket.close(1000)
    await value('plenum_websocket_closes_total', { dialect: 'realtime', code: '1000' }).toBe(1)
  })

  test('[M1] /metrics counts updates of editors, and refused updates by reason', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const writer = hocuspocusClient(server, await tokenFor(tenant))
    const reader = yjsClient(server, await tokenFor(tenant, 'rob', { role: 'viewer' }))
    await synced(writer, reader)
    const before = (await metric(server, 'plenum_editor_updates_total')) ?? 0
    writer.text.insert(0, 'Hello')
    await saved(writer)
    reader.text.insert(0, 'no')
    await value('plenum_editor_updates_total').toBe(before + 1)
    await value('plenum_editors_waiting').toBe(0)
    await value('plenum_editor_update_bytes_total').toBeGreaterThan(0)
    await value('plenum_editor_update_transactions_total').toBeGreaterThan(0)
    await value('plenum_editor_updates_refused_total', { reason: 'read_only' }).toBe(1)
    await value('plenum_editor_updates_refused_total', { reason: 'malformed' }).toBe(0)

    const vandal = await RealtimeSocket.connect(server, await tokenFor(tenant, 'vic'))
    await vandal.open()
    await vandal.openEditor('note')
    vandal.sendFrame('update', Uint8Array.of(255), 1, 1)
    await value('plenum_editor_updates_refused_total', { reason: 'malformed' }).toBe(1)
  })

  test('[M1] /metrics shows the runs, durations and failures of background jobs', async () => {
    const { client } = await given.tenant(server)
    const organizationId = 'o1'
    await client.documents.add({
      organizationId,
      documents: [{ documentId: 'd1' }],
      createOrganization: true,
    })
    await client.documents.migrate({ organizationId, documentId: 'd1', newDocumentId: 'd2' })
    const job = 'document.migrate'
    await value('plenum_job_duration_seconds_count', { job }).toBe(1)
    await value('plenum_job_duration_seconds_sum', { job }).toBeGreaterThan(0)
    await value('plenum_job_delay_seconds_count', { job }).toBe(1)
    await value('plenum_job_failures_total', { job }).toBe(0)
    await value('plenum_job_failures_total', { job: 'presence.prune' }).toBe(0)
  })

  test('[M1.1] labels contain no data of clients, and clients cannot add label values', async () => {
    const own = await startServer(store)
    const tenant = await given.tenant(own)
    const canary = 'canary7f3a'
    const headers = {
      ...tenant.headers,
      'user-agent': canary,
      'x-request-id': canary,
      'idempotency-key': canary,
    }
    await own.post(`/v2/${canary}`, {}, headers)
    await own.post(`/v2/organizations/get?${canary}=1`, { data: { [canary]: canary } }, headers)
    await fetch(`${own.url}/v2/organizations/get`, { method: 'DELETE' })
    const token = await tokenFor(tenant, canary)
    for (const code of [1000, 3999, 4000, 4777, 4999]) {
      const client = await RealtimeSocket.connect(own, token)
      await client.open(canary)
      client.socket.close(code, canary)
      await client.closed
    }
    const closes = (code: string) => () =>
      metric(own, 'plenum_websocket_closes_total', { dialect: 'realtime', code })
    await eventually(closes('other')).toBe(4)
    await eventually(closes('1000')).toBe(1)

    const names = Object.entries(operations).flatMap(([family, verbs]) =>
      Object.keys(verbs).map((verb) => `${family}.${verb}`),
    )
    const samples = (await metricsOf(own)).flatMap((family) => family.samples)
    for (const { name, labels } of samples) {
      expect(Object.values({ name, ...labels }).join(' ')).not.toContain(canary)
      if (labels.operation !== undefined) expect(names).toContain(labels.operation)
      if (labels.status !== undefined) expect(labels.status).toMatch(/^[245]xx$/)
      if (labels.code !== undefined) expect(labels.code).toMatch(/^([1245]\d\d|1\d\d\d|other)$/)
    }
    await own.stop()
  })

  test('[M1.2] /metrics omits the size of the database if the database does not answer or fails', async () => {
    const silent = await startServer(store)
    silent.database.size = () => new Promise(() => {})
    expect(await metric(silent, 'plenum_database_size_bytes')).toBe(undefined)
    expect(await metric(silent, 'plenum_build_info')).toBe(1)
    await silent.stop()

    const failing = await startServer(store)
    failing.database.size = () => Promise.reject(new Error('unavailable'))
    const warnings = () =>
      failing.logged.filter((line) => line.includes('cannot read the size of the database'))
    expect(await metric(failing, 'plenum_build_info')).toBe(1)
    await expect.poll(warnings).toHaveLength(1)
    expect(await metric(failing, 'plenum_database_size_bytes')).toBe(undefined)
    expect(warnings()).toHaveLength(1)
    await failing.stop()
  })
})
