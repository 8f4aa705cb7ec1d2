import { closeCodes } from '@plenum/protocol/realtime'
import type { Sample } from '../../platform/metrics/live-metrics.ts'

/** Close codes of the WebSocket protocol that browsers, libraries and proxies send. */
const standardCodes = [1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1011]
const namedCodes = new Set<number>([...standardCodes, ...Object.values(closeCodes)])

interface DialectCount {
  open: number
  /** How many connections closed with each code. Clients may send any code, so all unnamed codes are counted as `other`. */
  readonly closes: Map<string, number>
}

/** Counts the open connections and the close codes of each dialect, for the metrics. */
export class ConnectionCounts<Dialect extends string> {
  readonly #counts: Map<Dialect, DialectCount>

  constructor(dialects: readonly Dialect[]) {
    this.#counts = new Map(dialects.map((dialect) => [dialect, { open: 0, closes: new Map() }]))
  }

  countOpened(dialect: Dialect): void {
    this.#of(dialect).open++
  }

  countClosed(dialect: Dialect, closeCode: number): void {
    const count = this.#of(dialect)
    const code = namedCodes.has(closeCode) ? String(closeCode) : 'other'
    count.open--
    count.closes.set(code, (count.closes.get(code) ?? 0) + 1)
  }

  get connections(): Sample[] {
    return Array.from(this.#counts, ([dialect, { open }]) => ({ labels: { dialect }, value: open }))
  }

  get closes(): Sample[] {
    return Array.from(this.#counts).flatMap(([dialect, { closes }]) =>
      Array.from(closes, ([code, value]) => ({ labels: { dialect, code }, value })),
    )
  }

  #of(dialect: Dialect): DialectCount {
    return this.#counts.get(dialect) as DialectCount
  }
}
