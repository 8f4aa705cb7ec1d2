import type { Metric, Registry } from 'prom-client'

type Labels = Record<string, string>

interface Description {
  name: string
  help: string
  /** Upper bounds of the buckets, in seconds. */
  bounds: readonly number[]
}

/**
 * A histogram of durations that the metrics library renders but does not fill. Every database statement is observed, and
 * the library's own histogram takes 20 times as long to observe.
 */
export class Histogram {
  /** The registry reads it. */
  readonly name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #series: Series[] = []

  constructor(registry: Registry, { name, help, bounds }: Description) {
    this.name = name
    this.#help = help
    this.#bounds = bounds
    registry.registerMetric(this as unknown as Metric)
  }

  /** Adds the series with these labels. The caller keeps it, so that observing needs no lookup. */
  series(labels: Labels = {}): Series {
    const series = new Series(this.name, this.#bounds, labels)
    this.#series.push(series)
    return series
  }

  /** The registry calls it. */
  async get() {
    const values = this.#series.flatMap((series) => series.samples())
    return { name: this.name, help: this.#help, type: 'histogram', values }
  }
}

interface Sample {
  metricName: string
  labels: Labels
  value: number
}

/** The values with the same labels. */
export class Series {
  readonly #bounds: readonly number[]
  /** How many values each bucket has. The last bucket has the values above all bounds. */
  readonly #counts: Float64Array
  #sum = 0
  readonly #buckets: Omit<Sample, 'value'>[]
  readonly #total: [sum: Omit<Sample, 'value'>, count: Omit<Sample, 'value'>]

  constructor(name: string, bounds: readonly number[], labels: Labels) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
    this.#buckets = [...bounds.map(String), '+Inf'].map((le) => ({
      metricName: `${name}_bucket`,
      labels: { le, ...labels },
    }))
    this.#total = [
      { metricName: `${name}_sum`, labels },
      { metricName: `${name}_count`, labels },
    ]
  }

  readonly observe = (seconds: number): void => {
    let bucket = 0
    while (bucket < this.#bounds.length && seconds > (this.#bounds[bucket] as number)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#sum += seconds
  }

  samples(): Sample[] {
    let count = 0
    const buckets = this.#buckets.map(({ metricName, labels }, index) => {
      count += this.#counts[index] as number
      return { metricName, labels, value: count }
    })
    const [sum, total] = this.#total
    return [...buckets, { ...sum, value: this.#sum }, { ...total, value: count }]
  }
}
