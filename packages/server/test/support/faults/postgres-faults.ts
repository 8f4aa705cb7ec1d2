import pg from 'pg'
import { onTestFinished } from 'vitest'
import * as given from '../given.ts'
import { createPostgresDatabase, startServer } from '../harness.ts'
import { Proxy } from './proxy.ts'

/** A server on its own PostgreSQL database, with functions that block its queries and end its connections. */
export async function withPostgres(databaseUrl?: string, serverUrl = databaseUrl) {
  databaseUrl ??= await createPostgresDatabase()
  const data = { dataDir: `/tmp/unused-${process.pid}`, databaseUrl: serverUrl ?? databaseUrl }
  // Without polling for jobs, so that all commits come from the test.
  const server = await startServer('postgres', { data, jobPollMs: 3_600_000 })
  onTestFinished(() => server.stop())
  const tenant = await given.tenant(server)
  const [blocker, watcher] = [databaseUrl, databaseUrl].map((url) => new pg.Client({ connectionString: url }))
  if (!blocker || !watcher) throw new Error()
  await Promise.all([blocker.connect(), watcher.connect()])
  onTestFinished(async () => void (await Promise.all([blocker.end(), watcher.end()])))
  return {
    server,
    databaseUrl,
    tenant,
    /** Holds the locks of the statement until the returned function is called, which undoes the statement by default. */
    async block(statement: string): Promise<(end?: 'commit' | 'rollback') => Promise<unknown>> {
      await blocker.query(`begin; ${statement}`)
      return (end = 'rollback') => blocker.query(end)
    },
    /** Returns the ids of the PostgreSQL processes that wait for these locks. */
    async blocked(): Promise<number[]> {
      const { rows } = await watcher.query<{ pid: number }>(
        `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      return rows.map(({ pid }) => pid)
    },
    terminate: (pid: number) => watcher.query('select pg_terminate_backend($1)', [pid]),
    /** Ends all connections of the server. */
    terminateAll: () =>
      watcher.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like 'plenum%' and datname = current_database()`,
      ),
  }
}

/** The same, with a proxy between the server and its database. */
export async function withProxiedPostgres() {
  const databaseUrl = await createPostgresDatabase()
  const proxy = await Proxy.start(databaseUrl)
  onTestFinished(() => proxy.close())
  return { proxy, ...(await withPostgres(databaseUrl, proxy.url)) }
}

/** The next commit reaches the database after this time, and its answer does not reach the server. */
export function loseNextCommitAnswer(proxy: Proxy, delayMs: number): void {
  const commit = proxy.hold('commit')
  void commit.arrived.then(() => {
    commit.dropClient()
    setTimeout(commit.release, delayMs)
  })
}
