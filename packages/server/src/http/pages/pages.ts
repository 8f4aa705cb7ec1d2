import type { FastifyInstance } from 'fastify'
import type { UserTokens } from '../../access/tokens/user-tokens.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Metrics } from '../../platform/metrics/metrics.ts'
import type { Database } from '../../store/engine/db.ts'
import { mountDocs } from './docs.ts'

interface PagesDeps {
  database: Database
  metrics: Metrics
  userTokens: UserTokens
  clock: Clock
}

/** The status stays 200: another server on the database could not write either, and reads continue. */
const diskFull = 'The disk of the database is full: writes are refused, reads continue. Free some space.'

/** `/readyz` answers after this time even if the database does not: monitors ask every few seconds. */
const pingTimeoutMs = 2000

/** Requests within this time get the same metrics: rendering them takes 2 ms. */
const metricsCacheMs = 500

/** Adds the pages that are read with GET: health, metrics, public keys and documentation. */
export function mountPages(app: FastifyInstance, { database, metrics, userTokens, clock }: PagesDeps): void {
  app.get('/healthz', () => ({
    status: 'ok',
    database: database.dialect,
    durability: database.durability,
    uptimeSeconds: Math.floor(process.uptime()),
  }))

  const ping = shareRuns(clock, () => within(clock, pingTimeoutMs, database.ping()), 0)
  app.get('/readyz', async (_request, reply) => {
    try {
      await ping()
      return database.isDiskFull() ? { status: 'ready', warnings: [diskFull] } : { status: 'ready' }
    } catch {
      return reply.code(503).send({ status: 'unavailable', reason: 'The database does not answer.' })
    }
  })

  const render = shareRuns(
    clock,
    async () => {
      const { contentType, text } = await metrics.render()
      return { contentType, bytes: Buffer.from(text) }
    },
    metricsCacheMs,
  )
  app.get('/metrics', async (_request, reply) => {
    const { contentType, bytes } = await render()
    return reply.header('content-type', contentType).send(bytes)
  })

  app.get('/.well-known/jwks.json', async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=300').send(await userTokens.jwks(clock.now())),
  )

  mountDocs(app)
}

/** Rejects if the promise is still pending after `ms`. */
async function within(clock: Clock, ms: number, promise: Promise<unknown>): Promise<void> {
  let stopTimer = () => {}
  const timeout = new Promise((_resolve, reject) => {
    stopTimer = clock.setTimeout(() => reject(new Error(`No answer within ${ms} ms.`)), ms)
  })
  try {
    await Promise.race([promise, timeout])
  } finally {
    stopTimer()
  }
}

/** Wraps `run`: callers who call while it runs, or within `ms` after it started, share its result. */
function shareRuns<T>(clock: Clock, run: () => Promise<T>, ms: number): () => Promise<T> {
  let latest: { startedAt: number; result: Promise<T>; isOver: boolean } | undefined
  return () => {
    if (latest && (!latest.isOver || clock.elapsed() - latest.startedAt < ms)) return latest.result
    const current = { startedAt: clock.elapsed(), result: run(), isOver: false }
    latest = current
    const end = () => {
      current.isOver = true
    }
    current.result.then(end, end)
    return current.result
  }
}
