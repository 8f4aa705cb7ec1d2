export type RowMaker = (values: unknown[]) => unknown

/** Builds an object from a row. A function with the column names in its code is several times as fast as a loop. */
export function rowMaker(columns: readonly string[]): RowMaker {
  const fields = columns.map((name, index) => `${JSON.stringify(name)}: values[${index}]`)
  // oxlint-disable-next-line no-implied-eval -- the code contains only the quoted column names of our own statements
  return new Function('values', `return { ${fields.join(', ')} }`) as RowMaker
}
