import type { PostgresService } from '../../packages/server/test/support/services/postgres.ts'
import { sendRequests } from '../load.ts'
import { figure, median, percentile, printTable, progress } from '../report.ts'
import type { Kind, TenantServer } from './case.ts'
import { documents, notifications, organizations, users } from './lists.ts'
import { startTarget } from './target.ts'

/** The pause between two requests of the client that is delayed. */
const probePauseMs = 3
/** How long the probe runs alone, for comparison. */
const aloneMs = 3_000

/** Reads are repeated, after one that is not measured: code that runs for the first time is slow. */
const readCount = 5

/** A large operation that delays others. */
interface LargeOperation {
  title: string
  isRead: boolean
  kind: Kind
  path: string
  data: object
}

const organizationId = 'org'
/** v1 has no pages: one answer has up to 10,000 rows. It is the largest list that the interface permits. */
const operations: readonly LargeOperation[] = [
  {
    title: 'read 10,000 organizations',
    isRead: true,
    kind: organizations,
    path: '/v1/organizations/get',
    data: {},
  },
  {
    title: 'read 10,000 documents',
    isRead: true,
    kind: documents,
    path: '/v1/organizations/documents/get',
    data: { organizationId },
  },
  { title: 'read 10,000 users', isRead: true, kind: users, path: '/v1/users/get', data: { organizationId } },
  {
    title: 'read 10,000 notifications',
    isRead: true,
    kind: notifications,
    path: '/v1/notifications/get',
    data: { organizationId },
  },
  ...[documents, users, notifications].map((kind) => ({
    title: `delete the organization with all ${kind.name}`,
    isRead: false,
    kind,
    path: '/v2/organizations/delete',
    data: { organizationIds: [organizationId] },
  })),
]

/** Measures how long other clients wait while one client runs a large operation. */
export async function printStops(
  postgres: PostgresService | undefined,
  database: string,
  size: number,
): Promise<void> {
  const kinds = [organizations, documents, users, notifications]
  const target = await startTarget(kinds, size, postgres)
  // The tenant whose requests are delayed is another one than the tenant of the operation.
  const prober = (kind: Kind) =>
    target.tenants.get(kind === organizations ? documents.name : organizations.name) as TenantServer
  const rows: string[][] = []
  const measure = async (title: string, probed: TenantServer, work: () => Promise<unknown>, times = 1) => {
    progress(`${database}: ${title}`)
    const { latencies, tookMs } = await probeDuring(probed, work)
    const figures = [median(latencies), percentile(latencies, 0.99), Math.max(...latencies)]
    rows.push([title, figure(tookMs / times), ...figures.map(figure)])
  }
  const pause = () => new Promise((resolve) => setTimeout(resolve, aloneMs))
  await probeDuring(prober(documents), pause)
  await measure('nothing', prober(documents), pause)
  for (const { title, isRead, kind, path, data } of operations) {
    const { port, headers } = target.tenants.get(kind.name) as TenantServer
    const send = async (requestCount: number) => {
      const body = () => JSON.stringify({ data })
      const load = { port, path, headers, body, connectionCount: 1, requestCount }
      const { failures } = await sendRequests(load)
      if (failures.length > 0) throw new Error(`${title}: ${failures[0]}`)
    }
    if (isRead) await send(1)
    const times = isRead ? readCount : 1
    await measure(title, prober(kind), () => send(times), times)
  }
  await target.stop()
  printTable(
    `Delay of other requests during large operations, ${size.toLocaleString('en')} rows of each kind, ${database}`,
    ['operation of one tenant', 'took ms', 'request of another tenant: p50 ms', 'p99 ms', 'longest ms'],
    rows,
  )
}

/** Sends a cheap request every few milliseconds while the work runs. */
async function probeDuring(
  { port, headers }: TenantServer,
  work: () => Promise<unknown>,
): Promise<{ latencies: number[]; tookMs: number }> {
  const ended = new AbortController()
  const body = JSON.stringify({ data: { organizationIds: ['first'] } })
  const probe = sendRequests({
    port,
    path: '/v2/organizations/get',
    headers,
    body: () => body,
    connectionCount: 1,
    requestCount: Infinity,
    pauseMs: probePauseMs,
    signal: ended.signal,
  })
  const startedAt = performance.now()
  await work()
  const tookMs = performance.now() - startedAt
  ended.abort()
  return { latencies: (await probe).latencies, tookMs }
}
