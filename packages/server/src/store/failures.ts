/** What a database error means to a caller, decided by code and never by its text. */

const postgresConnection = /^(08|57P0[1-3]|53300)/
const socketErrors = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'ENOENT', 'EAI_AGAIN'])
/** SQLITE_BUSY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN, each with its extended codes. */
const sqliteUnavailable = new Set([5, 10, 13, 14])

/** The database cannot be reached, is starting or stopping, or its disk is full: the same call may succeed later. */
export function isUnavailable(error: unknown): boolean {
  const { code, errcode, message } = (error ?? {}) as { code?: string; errcode?: number; message?: string }
  if (typeof errcode === 'number') return sqliteUnavailable.has(errcode & 0xff)
  if (typeof code === 'string') return postgresConnection.test(code) || socketErrors.has(code)
  // node-postgres reports a connection that broke, or a full pool, without a code.
  return message !== undefined && /^(Connection terminated|timeout exceeded when trying to connect)/.test(message)
}

/** Transactions kept colliding until the attempts were used up. */
export function isCollision(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: string }
  return code === '40001' || code === '40P01'
}
