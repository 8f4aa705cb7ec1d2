/** Counts observations in buckets: an addition and a short walk, because it stands in every request. */
export class Histogram {
  readonly #bounds: readonly number[]
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    let bucket = 0
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] as number)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#sum += value
  }

  /** The lines of the Prometheus text format; `labels` such as `operation="users.get"`. */
  lines(name: string, labels = ''): string[] {
    let total = 0
    const buckets = [...this.#bounds, '+Inf'].map((bound, index) => {
      total += this.#counts[index] as number
      return `${name}_bucket{${[`le="${bound}"`, labels].filter(Boolean).join(',')}} ${total}`
    })
    const suffix = labels && `{${labels}}`
    return [...buckets, `${name}_sum${suffix} ${this.#sum}`, `${name}_count${suffix} ${total}`]
  }
}
