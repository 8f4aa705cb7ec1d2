import { collectDefaultMetrics, Registry } from 'prom-client'
import { Histogram } from './histogram.ts'

export interface Metrics {
  request(operation: string, httpStatus: number, seconds: number): void
  database(seconds: number): void
  render(): Promise<{ contentType: string; text: string }>
}

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const statementBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.25, 1]

/** Prometheus metrics of one server; the default ones include the event loop's lag. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const operations = new Map<string, { statuses: Map<number, number>; durations: Histogram }>()
  const statements = new Histogram(statementBuckets)

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
        await registry.metrics(),
      ].join('\n')
      return { contentType: registry.contentType, text }
    },
  }
}
