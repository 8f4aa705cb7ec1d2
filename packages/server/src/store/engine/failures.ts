/** What a database error means to a caller, decided by code wherever there is one. */

/** The data cannot be opened, for a reason that the operator can remove; the message says which. */
export class OpenError extends Error {}

/** The database took a statement and did not answer: whether it carried it out is unknown. */
export class SilentDatabase extends Error {}

/** Connections, resources such as disk and memory, shutting down, the system below, and a standby that cannot write. */
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
/** node-postgres reports a connection that broke, or a full pool, without a code. */
const brokenConnection =
  /^(Connection terminated|Client (has encountered a connection error|was closed)|timeout (exceeded|expired))/
/** SQLITE_BUSY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN, each with its extended codes. */
const sqliteUnavailable = new Set([5, 10, 13, 14])

/** The database cannot be reached, is starting or stopping, or its disk is full: the same call may succeed later. */
export function isUnavailable(error: unknown): boolean {
  const { code, errcode, message } = (error ?? {}) as { code?: string; errcode?: number; message?: string }
  if (typeof errcode === 'number') return sqliteUnavailable.has(errcode & 0xff)
  if (typeof code === 'string') return postgresUnavailable.test(code) || socketErrors.has(code)
  return message !== undefined && brokenConnection.test(message)
}

/** PostgreSQL cancelled the statement because it ran for too long. */
const cancelled = '57014'

/** The database did not answer in time. Unless it says so itself, a write may still have been applied. */
export const isTooLate = (error: unknown): boolean =>
  error instanceof SilentDatabase || (error as { code?: string } | undefined)?.code === cancelled

/** Transactions kept colliding until the attempts were used up. */
export function isCollision(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: string }
  return code === '40001' || code === '40P01'
}

/** PostgreSQL: another transaction has taken the same unique key meanwhile. */
export const isTaken = (error: unknown): boolean => (error as { code?: unknown })?.code === '23505'
