import type { Client } from '../packages/client/src/index.ts'
import type { Load } from './load.ts'

/** A kind of request that is measured. */
export interface Case {
  name: string
  title: string
  path: string
  body: Load['body']
  /** The part of `--requests` that the case sends in each round. */
  share: number
  /** Who calls. Default: a backend, with the API key. `user`: the user `u1` of the team, with a token. */
  caller?: 'user'
  /** Adds what the requests read or change. Called once for each database, with the number of requests of the whole run. */
  prepare?(client: Client, requestCount: number): Promise<void>
  /** Whether the requests start jobs. Their CPU time is measured too. */
  startsJobs?: boolean
}

export const body = (data: object): string => JSON.stringify({ data })
