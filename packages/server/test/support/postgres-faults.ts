import { once } from 'node:events'
import { createServer, connect as connectTo, type Socket } from 'node:net'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import * as given from './given.ts'
import { createPostgresDatabase, startServer } from './harness.ts'

/** A server on its own PostgreSQL database, with functions that block its queries and end its connections. */
export async function withPostgres(via = (url: string) => url) {
  const databaseUrl = await createPostgresDatabase()
  const data = { dataDir: `/tmp/unused-${process.pid}`, databaseUrl: via(databaseUrl) }
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

/** A proxy between a server and its database that can close connections, and delay or hold commits. */
export async function postgresProxy() {
  const sockets = new Set<Socket>()
  let target = new URL('http://unset')
  let isOpen = true
  let commitDelayMs = 0
  let heldCommit: { onArrival: () => void; released: Promise<void> } | undefined
  const proxy = createServer((near) => {
    if (!isOpen) return void near.destroy()
    const far = connectTo(Number(target.port), target.hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    far.on('data', (data) => void near.write(data))
    far.on('close', () => near.destroy())
    near.on('close', () => setTimeout(() => far.end(), 1_000))
    return near.on('data', (data) => {
      const isCommit = data.toString('latin1').includes('commit')
      if (isCommit && heldCommit) {
        void heldCommit.released.then(() => far.write(data))
        return heldCommit.onArrival()
      }
      if (commitDelayMs === 0 || !isCommit) return void far.write(data)
      // The database receives the commit late, and its answer is lost.
      near.destroy()
      setTimeout(() => far.write(data), commitDelayMs)
      commitDelayMs = 0
      return undefined
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const close = () => {
    isOpen = false
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    close()
    proxy.close()
  })
  return {
    url: (url: string) => {
      target = new URL(url)
      return Object.assign(new URL(url), { port: (proxy.address() as { port: number }).port }).href
    },
    close,
    open: () => void (isOpen = true),
    delayNextCommit: (ms: number) => void (commitDelayMs = ms),
    /** Starts the work and waits for its commit, which reaches the database when the returned function is called. */
    async holdCommit(work: () => void): Promise<() => void> {
      let release = () => {}
      const released = new Promise<void>((resolve) => (release = resolve))
      await new Promise<void>((onArrival) => {
        heldCommit = { onArrival, released }
        work()
      })
      heldCommit = undefined
      return release
    },
  }
}
