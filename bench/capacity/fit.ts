import { type Cost, type Costs, costOf, resources, type Unit, type Work } from './units.ts'

/** Work that was done, and what it cost. */
export interface Observation {
  name: string
  work: Work
  used: Cost
}

const passes = 5000

/**
 * Finds the cost of each of these units: the values, none of them negative, that explain the observations best. The costs of
 * the other units are known. Errors count in relation to what was measured, so that small loads matter as much as large ones.
 */
export function fitCosts<U extends Unit>(
  observations: readonly Observation[],
  unknown: readonly U[],
  known: Partial<Costs> = {},
): Pick<Costs, U> {
  const fitted = Object.fromEntries(
    unknown.map((unit): [U, Cost] => [unit, { servers: 0, postgres: 0, redis: 0, walBytes: 0 }]),
  ) as Pick<Costs, U>
  for (const resource of resources) {
    const rows = observations
      .filter(({ used }) => used[resource] > 0)
      .map(({ work, used }) => ({
        counts: unknown.map((unit) => (work[unit] ?? 0) / used[resource]),
        left: (used[resource] - costOf(work, known)[resource]) / used[resource],
      }))
    const values = leastSquares(rows)
    for (const [index, unit] of unknown.entries()) fitted[unit][resource] = values[index] ?? 0
  }
  return fitted
}

/** Improves one value after the other, which leads to the least squares, also with values that may not be negative. */
function leastSquares(rows: readonly { counts: readonly number[]; left: number }[]): number[] {
  const values: number[] = rows[0]?.counts.map(() => 0) ?? []
  const errors = rows.map(({ left }) => left)
  for (let pass = 0; pass < passes; pass++) {
    for (const index of values.keys()) {
      let product = 0
      let square = 0
      for (const [row, { counts }] of rows.entries()) {
        const count = counts[index] ?? 0
        product += count * (errors[row] ?? 0)
        square += count * count
      }
      if (square === 0) continue
      const change = Math.max(product / square, -(values[index] ?? 0))
      values[index] = (values[index] ?? 0) + change
      for (const [row, { counts }] of rows.entries())
        errors[row] = (errors[row] ?? 0) - change * (counts[index] ?? 0)
    }
  }
  return values
}
