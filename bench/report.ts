export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Rounds to the precision of the measurement. `–` stands for a value that could not be measured. */
export function figure(value: number): string {
  if (Number.isNaN(value)) return '–'
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

export function printTable(title: string, head: string[], rows: string[][]): void {
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  progress('')
  console.log(`\n${title}\n`)
  console.log(line(head))
  console.log(`|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`)
  for (const row of rows) console.log(line(row))
}

/** Shows progress on standard error, so that standard output has the tables only. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[2K${text}`)
  else if (text) process.stderr.write(`${text}\n`)
}
