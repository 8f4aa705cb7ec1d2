import type { FastifyInstance } from 'fastify'
import type { UserTokens } from '../../access/tokens/user-tokens.ts'
import type { Metrics } from '../../platform/metrics/metrics.ts'
import type { Database } from '../../store/engine/db.ts'
import { mountDocs } from './docs.ts'

interface Pages {
  database: Database
  metrics: Metrics
  userTokens: UserTokens
  now: () => number
}

/** Whoever asks does so every few seconds and needs an answer within them, also from a database that is silent. */
const readyWithinMs = 2000
const failAfter = (ms: number) =>
  new Promise((_resolve, reject) => setTimeout(() => reject(new Error('No answer.')), ms).unref())

/** Monitors read the metrics every few seconds; rendering them takes 2 ms. */
const renderedForMs = 500

/** What is read with GET: for operators, for the services of customers, for people. */
export function mountPages(app: FastifyInstance, { database, metrics, userTokens, now }: Pages): void {
  app.get('/healthz', () => ({
    status: 'ok',
    database: database.dialect,
    durability: database.durability,
    uptimeSeconds: Math.floor(process.uptime()),
  }))

  const ping = shared(() => Promise.race([database.ping(), failAfter(readyWithinMs)]), 0)
  app.get('/readyz', async (_request, reply) => {
    try {
      await ping()
      return { status: 'ready' }
    } catch {
      return reply.code(503).send({ status: 'unavailable', reason: 'The database does not answer.' })
    }
  })

  const render = shared(async () => {
    const { contentType, text } = await metrics.render()
    return { contentType, bytes: Buffer.from(text) }
  }, renderedForMs)
  app.get('/metrics', async (_request, reply) => {
    const { contentType, bytes } = await render()
    return reply.header('content-type', contentType).send(bytes)
  })

  app.get('/.well-known/jwks.json', async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=300').send(await userTokens.jwks(now())),
  )

  mountDocs(app)
}

/** Runs it once for all who ask while it runs, or within `ms` after it began. */
function shared<T>(run: () => Promise<T>, ms: number): () => Promise<T> {
  let begun: { at: number; result: Promise<T>; isOver: boolean } | undefined
  return () => {
    if (begun && (!begun.isOver || performance.now() - begun.at < ms)) return begun.result
    const current = { at: performance.now(), result: run(), isOver: false }
    begun = current
    const end = () => {
      current.isOver = true
    }
    current.result.then(end, end)
    return current.result
  }
}
