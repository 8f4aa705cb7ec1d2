import type { DestinationStream } from 'pino'

interface LogRecord {
  level: string
  time: string
  msg?: string
  err?: unknown
  [field: string]: unknown
}

interface LoggedError {
  type?: string
  message?: string
  stack?: string
  cause?: LoggedError
}

const levelColors: Record<string, number> = { fatal: 31, error: 31, warn: 33, info: 32, debug: 36, trace: 36 }

/** Formats the JSON lines of the log for people: time, level, message and fields, with the stack of an error below. */
export function readableLines(to: DestinationStream, { colors }: { colors: boolean }): DestinationStream {
  const color = (code: number | undefined, text: string) =>
    colors && code !== undefined ? `\u001b[${code}m${text}\u001b[39m` : text
  return {
    write(line) {
      const { level, time, msg, err, ...fields } = JSON.parse(line) as LogRecord
      const formatted = Object.entries(fields).map(([name, value]) =>
        color(90, `${name}=${formatValue(value)}`),
      )
      const first = [
        color(90, time),
        color(levelColors[level], level.toUpperCase().padEnd(5)),
        ...(msg === undefined ? [] : [printable(msg)]),
        ...formatted,
      ]
      to.write(`${first.join(' ')}\n${err === undefined ? '' : indent(formatError(err))}`)
    },
  }
}

const formatValue = (value: unknown) =>
  printable(typeof value === 'string' && /^[\w.:/@-]+$/.test(value) ? value : JSON.stringify(value))

function formatError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return JSON.stringify(error)
  const { type, message, stack, cause, ...more } = error as LoggedError
  const lines = [
    stack ?? `${type}: ${message}`,
    ...Object.entries(more).map(([name, value]) => `${name}=${formatValue(value)}`),
    ...(cause === undefined ? [] : [`caused by ${formatError(cause)}`]),
  ]
  return lines.join('\n')
}

const indent = (text: string) =>
  text
    .split('\n')
    .map((line) => `    ${printable(line)}\n`)
    .join('')

/** Escapes control characters. An error message may contain what a client sent, which could otherwise control the terminal. */
const printable = (text: string) =>
  text.replaceAll(/\p{Cc}/gu, (character) => {
    const code = character.charCodeAt(0).toString(16)
    return `\\u${code.padStart(4, '0')}`
  })
