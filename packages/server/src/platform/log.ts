import { type Logger, pino } from 'pino'
import type { Config } from '../config.ts'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>

/** JSON lines on standard output. Headers and bodies are never passed to it, so it has no secret to hide. */
export const createLog = (level: Config['logLevel']): Log => pino({ level, base: undefined })
