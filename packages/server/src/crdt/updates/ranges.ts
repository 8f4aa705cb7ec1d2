import { SortedPairs } from './sorted-pairs.ts'

/** Ranges of clocks of one Yjs client, in order, each as its start and its end. Touching ranges are joined. */
export type Ranges = number[]

/** Adds a range that starts where the last range ends, or later. */
export function addRange(ranges: Ranges, start: number, end: number): void {
  if (ranges.at(-1) === start) ranges[ranges.length - 1] = end
  else ranges.push(start, end)
}

export function covers(ranges: Ranges, start: number, end: number): boolean {
  const index = lastAtMost(ranges, start)
  return index % 2 === 0 && end <= (ranges[index + 1] as number)
}

/** Returns the union of both lists of ranges, in time proportional to the number of ranges. */
export function unite(a: ArrayLike<number>, b: ArrayLike<number>): Ranges {
  const united: Ranges = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const isFromA = j === b.length || (i < a.length && (a[i] as number) <= (b[j] as number))
    const start = (isFromA ? a[i] : b[j]) as number
    const end = (isFromA ? a[i + 1] : b[j + 1]) as number
    if (isFromA) i += 2
    else j += 2
    const last = united.length - 1
    if (last > 0 && start <= (united[last] as number)) united[last] = Math.max(united[last] as number, end)
    else united.push(start, end)
  }
  return united
}

/** Returns the index of the last of the ordered numbers that is not above the limit, or −1 if all are above it. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] as number) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

/**
 * A set of ranges, joined where they touch. There may be a million of them: adding one takes logarithmic time, except when
 * chunks of the `SortedPairs` are split or dropped.
 */
export class RangeSet {
  readonly #pairs: SortedPairs

  constructor(pairs = new SortedPairs()) {
    this.#pairs = pairs
  }

  /** The start and the end of each range. */
  get pairs(): Pick<SortedPairs, 'length' | 'copyTo'> {
    return this.#pairs
  }

  covers(start: number, end: number): boolean {
    return end <= (this.#pairs.secondAt(start) ?? -1)
  }

  /** Adds ranges, given in order. `maxChunks` limits the time: ranges in further chunks are not added. */
  addAll(ranges: Ranges, maxChunks = Infinity): void {
    if (ranges.length > 0) this.#pairs.merge(ranges, unite, maxChunks)
  }
}
