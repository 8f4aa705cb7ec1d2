/**
 * Another tenant of the server under attack, in a process of its own. It reads, lists, writes, edits and opens documents in
 * a loop. The parent process sends the server's address once, then `begin` and `end` for each attack. After each `end` this
 * process reports the longest time of each kind of request since `begin`.
 */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { waitedMs } from '../packages/server/test/support/measures/processor-time.ts'
import { createTenant, userToken } from './tenant.ts'

/** The server under attack. */
export interface Target {
  url: string
  pid: number
}

/** The longest time of each kind of request in milliseconds, and the requests that failed. */
export interface Report {
  worstMs: Record<Probe, number>
  /** Like `worstMs`, without the time in which the server or this process waited for a processor. */
  worstWorkedMs: Record<Probe, number>
  /** How many requests of each kind were answered while the attack was in progress. */
  answered: Record<Probe, number>
  failures: string[]
}

export type Probe = 'read' | 'list' | 'write' | 'document' | 'edit' | 'open'

const requestTimeoutMs = 60_000
const pauseMs = 20
const organizationId = 'org_1'

// The parent process may be interrupted. Then this process exits too.
process.once('disconnect', () => process.exit())

const [{ url, pid }] = (await once(process, 'message')) as [Target]
const tenant = await createTenant(url, 'bystander@example.com')
const { client } = tenant
await client.users.add({ organizationId, createOrganization: true, users: [{ userId: 'u1', name: 'Ada' }] })
await addDocument('medium', 100_000)
await addDocument('large', 430_000)
const token = await userToken(tenant, 'ada')
const [typist, reader] = [connect('live'), connect('live')]
await Promise.all([waitUntilSynced(typist), waitUntilSynced(reader)])

const probes: Record<Probe, () => Promise<unknown>> = {
  read: () => client.organizations.get({ organizationIds: [organizationId] }),
  list: () => client.documents.get({ organizationId }),
  write: () =>
    client.users.update({ organizationId, users: [{ userId: 'u1', name: `Ada ${Math.random()}` }] }),
  document: () => client.crdt.get({ organizationId, documentId: 'doc_1', editorId: 'medium' }),
  async edit() {
    const received = new Promise((resolve) => reader.doc.once('update', resolve))
    typist.doc.getMap('typed').set('at', Math.random())
    await received
  },
  async open() {
    const opened = connect('large')
    await waitUntilSynced(opened)
    opened.provider.destroy()
  },
}
const zero: Record<Probe, number> = { read: 0, list: 0, write: 0, document: 0, edit: 0, open: 0 }
// Each probe runs once unmeasured, because the first request of a kind is slow in this process as well.
for (const probe of Object.values(probes)) await probe()
process.send?.('ready')

for (;;) {
  await once(process, 'message')
  const report: Report = {
    worstMs: { ...zero },
    worstWorkedMs: { ...zero },
    answered: { ...zero },
    failures: [],
  }
  const ended = new AbortController()
  const probing = Promise.all(
    Object.entries(probes).map(([name, probe]) => repeat(name as Probe, probe, report, ended.signal)),
  )
  await once(process, 'message')
  ended.abort()
  await Promise.race([probing, pause(requestTimeoutMs)])
  process.send?.(report)
}

/** Repeats a probe until the attack ends. A request that is still open then is measured to its end, or to the timeout. */
async function repeat(
  name: Probe,
  probe: () => Promise<unknown>,
  report: Report,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    const startedAt = performance.now()
    const waitedBefore = [waitedMs(), waitedMs(pid)] as const
    try {
      await Promise.race([
        probe(),
        pause(requestTimeoutMs, undefined, { ref: false }).then(() => throwTimeout(name)),
      ])
      if (!ended.aborted) report.answered[name]++
    } catch (error) {
      report.failures.push(`${name}: ${String(error)}`)
    }
    const tookMs = performance.now() - startedAt
    // The larger of the two waits, because this process and the server may have waited at the same time.
    const waited = Math.max(waitedMs() - waitedBefore[0], waitedMs(pid) - waitedBefore[1])
    const workedMs = tookMs - waited
    report.worstMs[name] = Math.max(report.worstMs[name], tookMs)
    report.worstWorkedMs[name] = Math.max(report.worstWorkedMs[name], workedMs)
    await pause(pauseMs)
  }
}

function throwTimeout(name: Probe): never {
  throw new Error(`${name} took longer than ${requestTimeoutMs} ms`)
}

function connect(editorId: string) {
  const doc = new Y.Doc()
  const name = `${organizationId}/doc_1/${editorId}`
  const provider = new WebsocketProvider(`${url.replace(/^http/, 'ws')}/yjs`, name, doc, {
    params: { token },
    WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
    disableBc: true,
  })
  return { doc, provider }
}

async function waitUntilSynced({ provider }: ReturnType<typeof connect>): Promise<void> {
  if (!provider.synced) await new Promise((resolve) => provider.once('sync', resolve))
}

async function addDocument(editorId: string, bytes: number): Promise<void> {
  const paragraph = `<p>${'lorem ipsum '.repeat(16)}</p>`
  const data = paragraph.repeat(bytes / paragraph.length)
  await client.crdt.add({ organizationId, documentId: 'doc_1', editorId, type: 'xml', data })
}
