import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

export interface Metrics {
  request(operation: string, httpStatus: number, seconds: number): void
  database(seconds: number): void
  render(): Promise<{ contentType: string; text: string }>
}

/** Prometheus metrics of one server; the default ones include the event loop's lag. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'plenum_requests_total',
    help: 'Requests answered, by operation and HTTP status.',
    labelNames: ['operation', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'plenum_request_seconds',
    help: 'Time from the first byte of a request to its answer, by operation.',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  })
  const databaseTime = new Histogram({
    name: 'plenum_database_seconds',
    help: 'Time of one database statement.',
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.25, 1],
    registers: [registry],
  })

  // Looking a label up costs more than counting: keep what each operation uses.
  const counters = new Map<string, { inc(): void }>()
  const timers = new Map<string, { observe(value: number): void }>()
  const kept = <T>(map: Map<string, T>, key: string, make: () => T): T => {
    let value = map.get(key)
    if (value === undefined) map.set(key, (value = make()))
    return value
  }

  return {
    request(operation, httpStatus, seconds) {
      kept(counters, `${operation} ${httpStatus}`, () => requests.labels(operation, String(httpStatus))).inc()
      kept(timers, operation, () => durations.labels(operation)).observe(seconds)
    },
    database: (seconds) => databaseTime.observe(seconds),
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
}
