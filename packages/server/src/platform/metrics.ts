import { collectDefaultMetrics, Registry } from 'prom-client'
import { Histogram } from './histogram.ts'

export interface Metrics {
  request(operation: string, httpStatus: number, seconds: number): void
  database(seconds: number): void
  /** Where the numbers of open connections and documents are read from. */
  follow(source: () => LiveNumbers): void
  render(): Promise<{ contentType: string; text: string }>
}

/** What is open on this server now, and what was stored since it started. */
export interface LiveNumbers {
  connections: number
  documents: number
  editors: number
  updates: number
  updateBytes: number
  ticks: number
}

const liveHelp: Record<keyof LiveNumbers, [name: string, type: 'gauge' | 'counter', help: string]> = {
  connections: ['plenum_connections', 'gauge', 'WebSockets that are open.'],
  documents: ['plenum_open_documents', 'gauge', 'Documents that somebody has open.'],
  editors: ['plenum_open_editors', 'gauge', 'Editors that are held in memory.'],
  updates: ['plenum_updates_total', 'counter', 'Updates of editors that were stored, as clients sent them.'],
  updateBytes: ['plenum_update_bytes_total', 'counter', 'Bytes of the rows that hold them.'],
  ticks: ['plenum_update_transactions_total', 'counter', 'Transactions that stored updates of editors.'],
}

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const statementBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.25, 1]

/** Prometheus metrics of one server; the default ones include the event loop's lag. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const operations = new Map<string, { statuses: Map<number, number>; durations: Histogram }>()
  const statements = new Histogram(statementBuckets)
  let live: (() => LiveNumbers) | undefined

  const family = (name: string, type: string, help: string, lines: string[]) =>
    [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')

  return {
    request(operation, httpStatus, seconds) {
      let found = operations.get(operation)
      if (!found) {
        found = { statuses: new Map(), durations: new Histogram(requestBuckets) }
        operations.set(operation, found)
      }
      found.statuses.set(httpStatus, (found.statuses.get(httpStatus) ?? 0) + 1)
      found.durations.observe(seconds)
    },
    database: (seconds) => statements.observe(seconds),
    follow(source) {
      live = source
    },
    async render() {
      const requests = [...operations].flatMap(([operation, { statuses }]) =>
        [...statuses].map(
          ([status, count]) => `plenum_requests_total{operation="${operation}",status="${status}"} ${count}`,
        ),
      )
      const durations = [...operations].flatMap(([operation, found]) =>
        found.durations.lines('plenum_request_seconds', `operation="${operation}"`),
      )
      const text = [
        family(
          'plenum_requests_total',
          'counter',
          'Requests answered, by operation and HTTP status.',
          requests,
        ),
        family(
          'plenum_request_seconds',
          'histogram',
          'Time from the first byte of a request to its answer, by operation.',
          durations,
        ),
        family(
          'plenum_database_seconds',
          'histogram',
          'Time of one database statement.',
          statements.lines('plenum_database_seconds'),
        ),
        ...Object.entries(live?.() ?? {}).map(([key, value]) => {
          const [name, type, help] = liveHelp[key as keyof LiveNumbers]
          return family(name, type, help, [`${name} ${value}`])
        }),
        await registry.metrics(),
      ].join('\n')
      return { contentType: registry.contentType, text }
    },
  }
}
