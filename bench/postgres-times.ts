import { readdirSync, readFileSync } from 'node:fs'
import type { PostgresService } from '../packages/server/test/support/services/postgres.ts'
import { cpuMicrosecondsOf } from './process.ts'

/** The CPU time of each process of PostgreSQL, in microseconds. */
export type ProcessTimes = ReadonlyMap<number, number>

/** With a database: without the processes that serve connections to other databases. */
export function postgresTimes({ pid: postmaster }: PostgresService, database?: string): ProcessTimes {
  const times = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    try {
      const isChild = new RegExp(`^PPid:\\s+${postmaster}$`, 'm').test(
        readFileSync(`/proc/${pid}/status`, 'utf8'),
      )
      if (pid === postmaster || (isChild && (!database || concerns(pid, database)))) {
        times.set(pid, cpuMicrosecondsOf(pid))
      }
    } catch {
      // The process has ended meanwhile.
    }
  }
  return times
}

/** The title of a process that serves a connection is `postgres: user database address(port) state`. */
function concerns(pid: number, database: string): boolean {
  const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  return !title.includes('127.0.0.1(') || title.includes(` ${database} `)
}

/** The CPU time between two readings. A process that ended in between is not counted. */
export function timeBetween(before: ProcessTimes, after: ProcessTimes): number {
  let sum = 0
  for (const [pid, time] of after) sum += time - (before.get(pid) ?? 0)
  return sum
}
