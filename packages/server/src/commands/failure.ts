import { ConfigError } from '../config.ts'
import { OpenError } from '../store/engine/failures.ts'

/** The exit codes of the program. The help lists them. */
export const exitCodes = { success: 0, failure: 1, wrongUsage: 2 } as const

/** A command cannot do what it was asked to do. The message is one sentence that says why, and what to do. */
export class CommandError extends Error {}

/** The options of a command contradict each other, or one has an impossible value. */
export class UsageError extends CommandError {}

/** Returns one sentence if the operator can fix the problem. Any other error is a bug: it is printed with its stack. */
export function reasonFor(error: unknown): unknown {
  const isExpected = [CommandError, ConfigError, OpenError].some((kind) => error instanceof kind)
  const { message, syscall, code = '', path } = error as NodeJS.ErrnoException
  if (isExpected) return message
  const reason = fileProblems[code]
  if (reason !== undefined && path !== undefined) return `${path} cannot be used: ${reason}.`
  return syscall === undefined ? error : message
}

/** What the error codes of the file system mean. */
const fileProblems: Partial<Record<string, string>> = {
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EEXIST: 'there is a file of this name',
  EISDIR: 'it is a folder',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of the path is a file, not a folder',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
}
