/** Prints JSON that is easy to read and to compare: a value that fits on one line stays on one line. */
export function printJson(value: unknown, width = 110, indent = ''): string {
  const line = oneLine(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= width) return line
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const items = value.map((item) => inner + printJson(item, width, inner))
    return `[\n${items.join(',\n')}\n${indent}]`
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  const lines = entries.map(
    ([key, item]) => `${inner}${JSON.stringify(key)}: ${printJson(item, width, inner)}`,
  )
  return `{\n${lines.join(',\n')}\n${indent}}`
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  if (entries.length === 0) return '{}'
  return `{ ${entries.map(([key, item]) => `${JSON.stringify(key)}: ${oneLine(item)}`).join(', ')} }`
}
