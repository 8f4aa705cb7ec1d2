/** Far below the number of parameters that a statement may have in either database. */
const maxItemsPerStatement = 1000

export function* slices<T>(items: readonly T[], size = maxItemsPerStatement): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

/** Repeats the last id until the length is a power of two. A query is compiled once per length, so few lengths are better. */
export function padded(ids: readonly string[]): string[] {
  const filled = [...ids]
  const last = filled.at(-1)
  if (last !== undefined) while (!Number.isInteger(Math.log2(filled.length))) filled.push(last)
  return filled
}
