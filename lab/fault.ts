import type { Random } from '../packages/server/test/support/random/random.ts'
import type { Cluster, ClusterOptions, Link } from './cluster.ts'
import type { WriterProcess } from './writer-process.ts'
import type { WriterJob } from './writers.ts'

/** What a trial of a fault can use. */
export interface Scene {
  cluster: Cluster
  writers: WriterProcess
  random: Random
  /** Different in each trial: the ids of its documents begin with it. */
  name: string
  /** About how many writes a trial under load acknowledges. */
  writes: number
  /** Whether no trial may take a minute. */
  isShort: boolean
  /** Clients that have not converged, or are not refused, after this time are reported. */
  limitMs: number
  /** How the writers of this fault or control differ from others. */
  job: Partial<WriterJob>
}

/** What a trial has found. */
export interface Result {
  acknowledged: number
  lost: number
  duplicated: number
  /** From the end of the fault, or from the last write if that is later, until all clients have the stored content. */
  convergeMs?: number
  /** From the answer to the call that takes access away until no server accepts anything of the user. */
  revokeMs?: number
  /** What else was not as promised. */
  problems: string[]
}

export interface Fault {
  /** The number in the table of the guide `docs/guides/guarantees.md`. */
  id: string
  title: string
  /** The ways in which servers reach each other with which the fault is made. */
  links: readonly Link[]
  /** How many trials the long form makes with each link. */
  trials: number
  /** About how long a trial takes. */
  seconds: number
  cluster?: Partial<ClusterOptions>
  job?: Partial<WriterJob>
  /** Why the fault cannot be made on this machine. */
  missing?(): string | undefined
  /** Makes the fault once. */
  run(scene: Scene): Promise<Result>
  control: Control
}

/** The same with something broken: a lab that finds no fault here would find none anywhere. */
export interface Control {
  /** What is broken. */
  name: string
  /** Where it shows: in lost writes, or in what else is not as promised. Default: `lost`. */
  shows?: 'lost' | 'problems'
  cluster?: Partial<ClusterOptions>
  job?: Partial<WriterJob>
  run?(scene: Scene): Promise<Result>
}

/** Servers that share PostgreSQL. */
export const severalServers: readonly Link[] = ['none', 'postgres', 'redis']

/** Servers that send messages, but do not look for changes of others in the database, and store none for them. */
export const believesToBeAlone: Control = {
  name: 'servers that believe that no other uses the database',
  shows: 'problems',
  cluster: { program: 'changedServer', env: { LAB_CHANGE: 'alone' } },
}

/** Servers that neither send messages nor look for changes in the database. */
export const knowsNoOther: Control = {
  name: 'servers that do not know of each other',
  shows: 'problems',
  cluster: {
    program: 'changedServer',
    env: {
      LAB_CHANGE: 'alone',
      // No server listens at port 1.
      DATABASE_LISTEN_URL: 'postgresql://127.0.0.1:1/none',
      REDIS_URL: 'redis://127.0.0.1:1',
    },
  },
}

/** The longest times that the guide promises. */
export const promised = { convergeMs: 5_000, revokeMs: 1_000 }
