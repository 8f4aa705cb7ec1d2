import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogLevel } from './log-level.ts'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>

interface LoggedError {
  type: string
  message: string
  stack?: string
  code?: unknown
  cause?: LoggedError
}

/**
 * The part of an error that is logged. Databases put the values of rows into other fields of their errors, so these are
 * left out.
 */
function describe(error: Error & { code?: unknown }): LoggedError {
  const { name, message, stack, code, cause } = error
  return { type: name, message, stack, code, ...(cause instanceof Error && { cause: describe(cause) }) }
}

/** Creates a log that writes JSON lines. The server logs no headers and no bodies, so nothing has to be redacted. */
export const createLog = (level: LogLevel, to: DestinationStream): Log =>
  pino(
    {
      level,
      base: undefined,
      formatters: { level: (level) => ({ level }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => (error instanceof Error ? describe(error) : error) },
    },
    to,
  )
