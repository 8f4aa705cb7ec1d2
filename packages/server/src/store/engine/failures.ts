/** Classifies database errors by their code, or by their message where they have no code. */

/** The data cannot be opened. The message names the reason, which the operator can remove. */
export class OpenError extends Error {}

/** The database received a statement and did not answer: whether it executed the statement is unknown. */
export class DatabaseTimeoutError extends Error {}

/**
 * Codes for connections, resources such as disk and memory, shutdown, system errors, a standby that cannot write, and a
 * transaction that was idle for too long.
 */
const postgresUnavailable = /^(08|53|57P0|58|25006|25P03)/
const socketErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ENOENT',
  'EAI_AGAIN',
])
/** node-postgres reports a broken connection and a full pool without a code. */
const brokenConnection =
  /^(Connection terminated|Client (has encountered a connection error|was closed)|timeout (exceeded|expired))/
/** SQLITE_BUSY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN, each with its extended codes. */
const sqliteUnavailable = new Set([5, 10, 13, 14])

/** Whether the database is unreachable, starts or stops, or its disk is full, so that the same call may succeed later. */
export function isUnavailable(error: unknown): boolean {
  const { code, errcode, message } = (error ?? {}) as { code?: string; errcode?: number; message?: string }
  if (typeof errcode === 'number') return sqliteUnavailable.has(errcode & 0xff)
  if (typeof code === 'string') return postgresUnavailable.test(code) || socketErrors.has(code)
  return message !== undefined && brokenConnection.test(message)
}

/** Whether there was no space for the data: SQLITE_FULL, or `disk_full` of PostgreSQL. */
export function isDiskFull(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: string; errcode?: number }
  return code === '53100' || (errcode !== undefined && (errcode & 0xff) === 13)
}

/** Whether PostgreSQL cancelled a statement because it ran for too long. The transaction is rolled back. */
export const isCancelled = (error: unknown): boolean => (error as { code?: unknown })?.code === '57014'

/** Whether the database did not answer in time. A write may have been committed, unless PostgreSQL reports the timeout. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof DatabaseTimeoutError || isCancelled(error)

const serializationFailure = '40001'
const deadlock = '40P01'

/** Whether PostgreSQL rolled the transaction back because it collided with another one. It can run again. */
export function isCollision(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: string }
  return code === serializationFailure || code === deadlock
}

/** Whether, on PostgreSQL, a statement waited for a lock for longer than `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => (error as { code?: unknown })?.code === '55P03'

/** Whether, on PostgreSQL, another transaction inserted the same unique key at the same time. */
export const isDuplicateKey = (error: unknown): boolean => (error as { code?: unknown })?.code === '23505'

/** SQLITE_CONSTRAINT and SQLITE_MISMATCH. */
const sqliteRefusals = new Set([19, 20])

/** Whether the database does not accept a value, or a row would violate a key. */
export function isRefusedRow(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: string; errcode?: number }
  if (typeof errcode === 'number') return sqliteRefusals.has(errcode & 0xff)
  return typeof code === 'string' && /^2[23]/.test(code)
}

/** Codes for wrong credentials and unknown databases. Their messages name the user and the database, but no password. */
const refusals = /^(28|3D)/

/** An error that the operator understands, if the database cannot be reached or refuses the connection. */
export function cannotOpen(cause: unknown): OpenError | undefined {
  const { code, message } = cause as { code?: string; message: string }
  const reason = message || code
  if (reason?.includes('unsupported startup parameter')) {
    const setting =
      'ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout, options'
    return new OpenError(`PgBouncer refuses: ${reason}. Add to its settings: ${setting}`, { cause })
  }
  if (isUnavailable(cause)) return new OpenError(`PostgreSQL does not answer: ${reason}.`, { cause })
  return refusals.test(code ?? '') ? new OpenError(`PostgreSQL refuses: ${reason}.`, { cause }) : undefined
}
