import { once } from 'node:events'
import { createServer, connect as connectTo, type Socket } from 'node:net'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import * as given from './given.ts'
import { createPostgresDatabase, startServer } from './harness.ts'

/** A server on a PostgreSQL database of its own, and somebody who can stand in its way. */
export async function withPostgres(via = (url: string) => url) {
  const databaseUrl = await createPostgresDatabase()
  const data = { dataDir: `/tmp/unused-${process.pid}`, databaseUrl: via(databaseUrl) }
  // Without jobs that are looked for: all commits are those of the test.
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
    /** Keeps the locks that the statement takes until it is called back. */
    async block(statement: string): Promise<() => Promise<unknown>> {
      await blocker.query(`begin; ${statement}`)
      return () => blocker.query('rollback')
    },
    /** The server processes that wait for those locks. */
    async blocked(): Promise<number[]> {
      const { rows } = await watcher.query<{ pid: number }>(
        `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      return rows.map(({ pid }) => pid)
    },
    terminate: (pid: number) => watcher.query('select pg_terminate_backend($1)', [pid]),
  }
}

/** What lies between a server and its database. */
export async function roadToPostgres() {
  const sockets = new Set<Socket>()
  let target = new URL('http://unset')
  let isOpen = true
  let delay = 0
  let held: { isThere: () => void; passes: Promise<void> } | undefined
  const proxy = createServer((near) => {
    if (!isOpen) return void near.destroy()
    const far = connectTo(Number(target.port), target.hostname)
    for (const one of [near, far]) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => sockets.delete(one))
    }
    far.on('data', (data) => void near.write(data))
    far.on('close', () => near.destroy())
    near.on('close', () => setTimeout(() => far.end(), 1_000))
    return near.on('data', (data) => {
      const isCommit = data.toString('latin1').includes('commit')
      if (isCommit && held) {
        void held.passes.then(() => far.write(data))
        return held.isThere()
      }
      if (delay === 0 || !isCommit) return void far.write(data)
      // The database gets it, but late, and its answer goes nowhere.
      near.destroy()
      setTimeout(() => far.write(data), delay)
      delay = 0
      return undefined
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const close = () => {
    isOpen = false
    for (const one of sockets) one.destroy()
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
    delayNextCommit: (ms: number) => void (delay = ms),
    /** The next commit, for which it waits, arrives when it is called back. */
    async holdCommit(of: () => void): Promise<() => void> {
      let pass = () => {}
      const passes = new Promise<void>((resolve) => (pass = resolve))
      await new Promise<void>((isThere) => {
        held = { isThere, passes }
        of()
      })
      held = undefined
      return pass
    },
  }
}
