import { SortedPairs } from './sorted-pairs.ts'

/** The ranges of one update in order, each as its start and its end. Touching ranges are joined. */
export type Ranges = number[]

/** Adds a range that starts at the end of the others or later. */
export function addRange(ranges: Ranges, start: number, end: number): void {
  if (ranges.at(-1) === start) ranges[ranges.length - 1] = end
  else ranges.push(start, end)
}

export function covers(ranges: Ranges, start: number, end: number): boolean {
  const index = lastAtMost(ranges, start)
  return index % 2 === 0 && end <= (ranges[index + 1] as number)
}

/** The union of both, in time proportional to the number of ranges. */
export function unite(a: ArrayLike<number>, b: ArrayLike<number>): Ranges {
  const united: Ranges = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const isFirst = j === b.length || (i < a.length && (a[i] as number) <= (b[j] as number))
    const start = (isFirst ? a[i] : b[j]) as number
    const end = (isFirst ? a[i + 1] : b[j + 1]) as number
    if (isFirst) i += 2
    else j += 2
    const last = united.length - 1
    if (last > 0 && start <= (united[last] as number)) united[last] = Math.max(united[last] as number, end)
    else united.push(start, end)
  }
  return united
}

/** The index of the last of the ordered numbers that is not above the limit; −1 if all are. */
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

/** Ranges that do not touch each other, also a million of them: adding one takes time logarithmic in their number. */
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
