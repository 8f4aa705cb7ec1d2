import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { ServerProcess } from '../../packages/server/test/support/processes/server-process.ts'
import { createTenant } from '../../attack/tenant.ts'
import { createClient } from '../../packages/client/src/index.ts'
import { openDatabase } from '../../packages/server/src/store/engine/open.ts'
import type { PostgresService } from '../../packages/server/test/support/services/postgres.ts'
import { startMeasuredServer } from '../process.ts'
import { progress } from '../report.ts'
import type { Case, Kind, TenantServer } from './case.ts'
import { Rows } from './rows.ts'

/** A server with a database in which each kind has a certain number of rows. */
export interface Target {
  server: ServerProcess
  /** By the name of the kind. */
  cases: ReadonlyMap<string, Case[]>
  tenants: ReadonlyMap<string, TenantServer>
  stop(): Promise<void>
}

/** The number of rows of a kind: the size, unless the product permits fewer. */
export const countOf = ({ maxCount = Infinity }: Kind, size: number): number => Math.min(size, maxCount)

/** Long enough for one statement that writes many rows. */
const statementTimeoutMs = 600_000

/** Starts a server on an empty database, fills the database while the server is stopped, and starts the server again. */
export async function startTarget(
  kinds: readonly Kind[],
  size: number,
  postgres: PostgresService | undefined,
): Promise<Target> {
  const title = `${postgres ? 'PostgreSQL' : 'SQLite'}, ${size.toLocaleString('en')}`
  const dataDir = mkdtempSync(join(tmpdir(), 'plenum-growth-'))
  const url = await postgres?.createDatabase()
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: url ?? '',
    SECRET_KEY: 'x'.repeat(32),
    LIMIT_CREATE_WORKSPACE_PER_HOUR: '0',
  }
  const profile = process.env.PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE}`] : []
  const start = () => startMeasuredServer('../packages/server/dist/main.js', env, profile)

  const first = await start()
  const prepared = []
  for (const kind of kinds) {
    const tenant = await createTenant(`http://127.0.0.1:${first.port}`, `${kind.name}@example.com`)
    prepared.push({ kind, tenant, ...(await kind.prepare(tenant)) })
  }
  await first.terminate()

  const startedAt = performance.now()
  const database = await openDatabase({
    ...(url !== undefined && { url }),
    dataDir,
    durability: 'relaxed',
    poolSize: 1,
    timeoutMs: statementTimeoutMs,
  })
  for (const { kind, fill } of prepared) await fill(new Rows(database, title), countOf(kind, size))
  // What autovacuum does in production. The server never runs `analyze` on SQLite.
  if (postgres) await sql`vacuum analyze`.execute(database.read)
  await database.close()
  progress(`${title}: filled in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)

  const server = await start()
  const cases = new Map<string, Case[]>()
  const tenants = new Map<string, TenantServer>()
  for (const { kind, tenant, cases: casesOf } of prepared) {
    const { apiKey, authToken, headers } = tenant
    const client = createClient({ url: `http://127.0.0.1:${server.port}`, retries: 0, apiKey, authToken })
    const asTenant = { port: server.port, headers, client }
    tenants.set(kind.name, asTenant)
    cases.set(kind.name, casesOf(asTenant, countOf(kind, size)))
  }
  return {
    server,
    cases,
    tenants,
    async stop() {
      await server.terminate()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
