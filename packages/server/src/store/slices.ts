/** Rows and ids of one statement: far below the number of parameters that either database takes. */
const atOnce = 1000

export function* slices<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += atOnce) yield items.slice(start, start + atOnce)
}
