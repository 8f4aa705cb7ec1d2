/** Rows and ids of one statement: far below the number of parameters that either database takes. */
const atOnce = 1000

export function* slices<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += atOnce) yield items.slice(start, start + atOnce)
}

/** With the last id repeated up to a power of two: few queries are compiled, not one for each number of ids. */
export function padded(ids: readonly string[]): string[] {
  const filled = [...ids]
  const last = filled.at(-1)
  if (last !== undefined) while (!Number.isInteger(Math.log2(filled.length))) filled.push(last)
  return filled
}
