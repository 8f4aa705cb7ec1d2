import { Counter, type Registry } from 'prom-client'
import { Histogram, type Series } from './histogram.ts'

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

interface Request {
  count: number
  durations: Series
}

/**
 * Counts requests by HTTP status code, but measures their time only by the first digit of the code. A histogram has 13 lines
 * for each combination of labels. With all codes of all operations, rendering it would hold the event loop for 50 ms.
 */
export function createRequestMetrics(registry: Registry) {
  const durations = new Histogram(registry, {
    name: 'plenum_http_request_duration_seconds',
    help: 'Time from the first byte of a request to its answer, by operation and class of the HTTP status code.',
    bounds,
  })
  const requests = new Map<string, Map<number, Request>>()
  const series = new Map<string, Series>()

  registry.registerMetric(
    new Counter({
      name: 'plenum_http_requests_total',
      help: 'Answered requests, by operation and HTTP status code.',
      labelNames: ['operation', 'code'],
      registers: [],
      collect() {
        this.reset()
        for (const [operation, byCode] of requests) {
          for (const [code, { count }] of byCode) this.inc({ operation, code }, count)
        }
      },
    }),
  )

  const seriesOf = (operation: string, code: number): Series => {
    const labels = { operation, status: `${Math.floor(code / 100)}xx` }
    const key = `${labels.operation} ${labels.status}`
    const known = series.get(key) ?? durations.series(labels)
    series.set(key, known)
    return known
  }

  return (operation: string, code: number, seconds: number): void => {
    let byCode = requests.get(operation)
    if (!byCode) requests.set(operation, (byCode = new Map()))
    let request = byCode.get(code)
    if (!request) byCode.set(code, (request = { count: 0, durations: seriesOf(operation, code) }))
    request.count++
    request.durations.observe(seconds)
  }
}
