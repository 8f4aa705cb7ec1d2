/** Ranges in order, each as its start and its end. Those that touch become one. */
export type Ranges = number[]

export function addRange(ranges: Ranges, start: number, end: number): void {
  if (ranges.at(-1) === start) ranges[ranges.length - 1] = end
  else ranges.push(start, end)
}

export function covers(ranges: Ranges, start: number, end: number): boolean {
  const index = lastAtMost(ranges, start)
  return index % 2 === 0 && end <= (ranges[index + 1] as number)
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
