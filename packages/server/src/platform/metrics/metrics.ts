import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import { Histogram, type Series } from './histogram.ts'
import { type Clock, systemClock } from '../clock.ts'
import { type LiveNumbers, liveMetrics, type ReadMetric } from './live-metrics.ts'
import { type PeerNumbers, peerMetrics } from './peer-metrics.ts'
import { yieldIfLate } from '../turns/loop-time.ts'
import { createRequestMetrics } from './request-metrics.ts'

/** All durations are seconds. */
export interface Metrics {
  request(operation: string, code: number, seconds: number): void
  readonly database: DatabaseObserver
  /** Registers a kind of background work. Call it once for each kind. */
  job(name: string): JobObserver
  /** Registers sources whose numbers are read when the metrics are rendered. */
  addSources(sources: Sources): void
  render(): Promise<{ contentType: string; text: string }>
}

export interface DatabaseObserver {
  statement(seconds: number): void
  commit(seconds: number): void
  /** SQLite only. PostgreSQL syncs within its commit. */
  sync(seconds: number): void
}

export interface JobObserver {
  /** A job started for the first time, this much later than it was due. */
  onStarted(delaySeconds: number): void
  onRun(seconds: number): void
  onFailed(): void
}

export interface Sources {
  build: { version: string; database: string }
  live: () => LiveNumbers
  peers: () => PeerNumbers
  /** Bytes of each part of the database. */
  databaseSize: () => Promise<Readonly<Record<string, number>>>
  isDiskFull: () => boolean
  onFailure: (error: unknown) => void
}

const statementBounds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.25, 1]
const diskBounds = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2]
const jobBounds = [0.005, 0.05, 0.25, 1, 5, 30, 120, 600]

/** The size of the database is not read more often, because PostgreSQL looks at every file for it. */
const databaseSizeMaxAgeMs = 60_000

/**
 * Gauges of the metrics library that are left out: only counters should have names that end in `_total`. The same numbers
 * by type remain.
 */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

let processMetrics: Registry | undefined

/**
 * The metrics of this process, such as the lag of the event loop. The library never stops measuring, and keeps what
 * belongs to the same registry. So all servers of the process share these metrics, in a registry of their own.
 */
function metricsOfProcess(): Registry {
  if (processMetrics) return processMetrics
  processMetrics = new Registry()
  collectDefaultMetrics({ register: processMetrics })
  for (const name of misnamed) processMetrics.removeSingleMetric(name)
  return processMetrics
}

/** Creates the Prometheus metrics of one server. */
export function createMetrics(clock: Clock = systemClock): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const registries = [metricsOfProcess(), registry]
  const histogram = (name: string, help: string, bounds: readonly number[]) =>
    new Histogram(registry, { name, help, bounds })

  const request = createRequestMetrics(registry)
  const statements = histogram(
    'plenum_database_statement_duration_seconds',
    'Time of one database statement, without commits.',
    statementBounds,
  )
  const commits = histogram(
    'plenum_database_commit_duration_seconds',
    'Time of one commit. PostgreSQL syncs within it; SQLite does not.',
    diskBounds,
  )
  const syncs = histogram(
    'plenum_database_sync_duration_seconds',
    'Time of one sync of the log of SQLite, which many commits share.',
    diskBounds,
  )
  const jobs = histogram('plenum_job_duration_seconds', 'Time of one run of a background job.', jobBounds)
  const jobDelays = histogram(
    'plenum_job_delay_seconds',
    'How much later than due a background job started. It grows when jobs queue up.',
    jobBounds,
  )
  const jobFailures = new Counter({
    name: 'plenum_job_failures_total',
    help: 'Runs of a background job that failed.',
    labelNames: ['job'],
    registers,
  })
  let readNumbers: (() => void)[] = []

  return {
    request,
    database: {
      statement: statements.series().observe,
      commit: commits.series().observe,
      sync: syncs.series().observe,
    },
    job(job) {
      const failures = jobFailures.labels({ job })
      failures.inc(0)
      let delays: Series | undefined
      return {
        // Housekeeping is never due, so it has no delay.
        onStarted: (seconds) => (delays ??= jobDelays.series({ job })).observe(seconds),
        onRun: jobs.series({ job }).observe,
        onFailed: () => failures.inc(),
      }
    },
    addSources({ build, live, peers, databaseSize, isDiskFull, onFailure }) {
      const info = new Gauge({
        name: 'plenum_build_info',
        help: 'Always 1. The labels describe this server.',
        labelNames: ['version', 'node_version', 'database'],
        registers,
      })
      info.set({ ...build, node_version: process.versions.node }, 1)
      readNumbers = [
        addReadMetrics(registry, liveMetrics, live),
        addReadMetrics(registry, peerMetrics, peers),
      ]
      registry.registerMetric(
        new Gauge({
          name: 'plenum_database_disk_full',
          help: '1 if a write was refused in the last minute because the disk of the database is full, otherwise 0.',
          registers: [],
          collect() {
            this.set(Number(isDiskFull()))
          },
        }),
      )
      const sizes = readInBackground(databaseSize, onFailure, clock)
      registry.registerMetric(
        new Gauge({
          name: 'plenum_database_size_bytes',
          help: 'Size of the database: its data and, with SQLite, its log. Read at most once a minute.',
          labelNames: ['part'],
          registers: [],
          collect() {
            this.reset()
            for (const [part, bytes] of Object.entries(sizes() ?? {})) this.set({ part }, bytes)
          },
        }),
      )
    },
    async render() {
      for (const read of readNumbers) read()
      const texts: string[] = []
      for (const each of registries) {
        for (const { name } of each.getMetricsAsArray()) {
          await yieldIfLate()
          texts.push(await each.getSingleMetricAsString(name))
        }
      }
      return { contentType: registry.contentType, text: `${texts.join('\n\n')}\n` }
    },
  }
}

/** Registers the metrics. Returns a function that reads their numbers, once for all of them. */
function addReadMetrics<Numbers>(
  registry: Registry,
  metrics: readonly ReadMetric<Numbers>[],
  readNumbers: () => Numbers,
): () => void {
  let numbers = readNumbers()
  for (const { type, read, ...description } of metrics) {
    const configuration = {
      ...description,
      registers: [],
      collect(this: Counter | Gauge) {
        this.reset()
        for (const { labels = {}, value } of read(numbers)) this.inc(labels, value)
      },
    }
    registry.registerMetric(type === 'counter' ? new Counter(configuration) : new Gauge(configuration))
  }
  return () => {
    numbers = readNumbers()
  }
}

/**
 * Creates a function that returns the last value at once, and starts to read a new one if it is too old. Undefined: the
 * last read failed, or none has ended yet.
 */
function readInBackground<T>(
  read: () => Promise<T>,
  onFailure: (error: unknown) => void,
  clock: Clock,
): () => T | undefined {
  let value: T | undefined
  let readAt = -Infinity
  const refresh = async () => {
    try {
      value = await read()
    } catch (error) {
      value = undefined
      onFailure(error)
    }
  }
  return () => {
    if (clock.elapsed() - readAt >= databaseSizeMaxAgeMs) {
      readAt = clock.elapsed()
      void refresh()
    }
    return value
  }
}
