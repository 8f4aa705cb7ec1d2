import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startGuard } from './guard.ts'
import { freePort, serverUser } from './postgres.ts'
import { findOrInstall, pgBouncerProgram } from './programs.ts'

/** Starts a PgBouncer in transaction mode that does not keep prepared statements, as versions before 1.21. Returns a URL. */
export async function startForgetfulPgBouncer(databaseUrl: string): Promise<string> {
  const program = findOrInstall(pgBouncerProgram)
  const { hostname, port: databasePort, pathname, username } = new URL(databaseUrl)
  const folder = mkdtempSync(join(tmpdir(), 'plenum-pgbouncer-'))
  const guard = startGuard(folder, true)
  const port = await freePort()
  const [, major, minor] =
    /(\d+)\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? []
  const isOld = Number(major) === 1 && Number(minor) < 21
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
    * = host=${hostname} port=${databasePort} user=${username}
    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = ${port}
    unix_socket_dir =
    auth_type = any
    pool_mode = transaction
    ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout, options
    ${isOld ? '' : 'max_prepared_statements = 0'}`.replace(/^ +/gm, ''),
  )
  const user = serverUser()
  if (user) for (const path of [folder, file]) chownSync(path, user.uid, user.gid)
  const bouncer = spawn(program, ['--quiet', file], { ...user, stdio: 'ignore', detached: true })
  guard.watch(bouncer)
  onTestFinished(async () => {
    const ended = once(bouncer, 'exit')
    if (bouncer.kill('SIGKILL')) await ended
    guard.release()
  })
  return `postgres://${username}@127.0.0.1:${port}${pathname}`
}
