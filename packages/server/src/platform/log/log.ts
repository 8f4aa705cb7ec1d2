import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from '../../config.ts'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>

interface Described {
  type: string
  message: string
  stack?: string
  code?: unknown
  cause?: Described
}

/** What tells where it broke and no more: databases put the values of rows into further fields of their errors. */
function describe(error: Error & { code?: unknown }): Described {
  const { name, message, stack, code, cause } = error
  return { type: name, message, stack, code, ...(cause instanceof Error && { cause: describe(cause) }) }
}

/** JSON lines. Headers and bodies are never passed to it, so it has no secret to hide. */
export const createLog = (level: Config['logLevel'], to: DestinationStream): Log =>
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
