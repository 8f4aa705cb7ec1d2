/** Ranges in order, each as its start and its end. Those that touch become one. */
export type Ranges = number[]

/** Adds one that starts at the end of the others or after it. */
export function addRange(ranges: Ranges, start: number, end: number): void {
  if (ranges.at(-1) === start) ranges[ranges.length - 1] = end
  else ranges.push(start, end)
}

export function covers(ranges: Ranges, start: number, end: number): boolean {
  const index = lastAtMost(ranges, start)
  return index % 2 === 0 && end <= (ranges[index + 1] as number)
}

/** Each insertion moves what is behind it; from here on it is cheaper to write all ranges anew. */
const maxInsertions = 8

/** The ranges of both. May change the first and answer it. */
export function unite(ranges: Ranges, others: Ranges): Ranges {
  const news: Ranges = []
  for (let i = 0; i < others.length; i += 2) {
    const start = others[i] as number
    const end = others[i + 1] as number
    if (!covers(ranges, start, end)) news.push(start, end)
  }
  if (ranges.length === 0) return news
  if (news.length > 2 * maxInsertions) return merge(ranges, news)
  for (let i = 0; i < news.length; i += 2) insert(ranges, news[i] as number, news[i + 1] as number)
  return ranges
}

function insert(ranges: Ranges, start: number, end: number): void {
  const before = lastAtMost(ranges, start)
  const behind = lastAtMost(ranges, end)
  // An even index is a start: the new range begins or ends inside of that one.
  const joinsLeft = before % 2 === 0 || ranges[before] === start
  const from = joinsLeft ? before & ~1 : before + 1
  const to = behind % 2 === 0 ? behind + 2 : behind + 1
  const first = joinsLeft ? (ranges[from] as number) : start
  const last = behind % 2 === 0 ? (ranges[behind + 1] as number) : end
  if (to - from === 2) {
    ranges[from] = first
    ranges[from + 1] = last
  } else {
    ranges.splice(from, to - from, first, last)
  }
}

function merge(a: Ranges, b: Ranges): Ranges {
  const merged: Ranges = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const isFirst = j === b.length || (i < a.length && (a[i] as number) <= (b[j] as number))
    const start = (isFirst ? a[i] : b[j]) as number
    const end = (isFirst ? a[i + 1] : b[j + 1]) as number
    if (isFirst) i += 2
    else j += 2
    const last = merged.length - 1
    if (last > 0 && start <= (merged[last] as number)) merged[last] = Math.max(merged[last] as number, end)
    else merged.push(start, end)
  }
  return merged
}

/**
 * The index of the last of the ordered numbers that is not above the limit; negative if all are. With a stride of 2,
 * every other number is ordered and looked at.
 */
export function lastAtMost(numbers: readonly number[], limit: number, stride = 1): number {
  let low = 0
  let high = numbers.length / stride
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle * stride] as number) <= limit) low = middle + 1
    else high = middle
  }
  return (low - 1) * stride
}
