import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../config.ts'

/** Why a folder cannot be used, by the error code. */
const reasons: Record<string, string> = {
  EACCES: 'the user of the server has no permission',
  EPERM: 'the user of the server has no permission',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of its path is a file',
  ENOENT: 'the file system does not allow new files there',
  ENOSPC: 'the disk is full',
}

/**
 * Creates the folder if it does not exist, and checks that it is writable. Throws an error that tells the operator what is
 * wrong.
 */
export function prepareDataDir(dataDir: string): void {
  const folder = resolve(dataDir)
  try {
    createFolder(folder)
    const file = join(folder, `.write-test-${process.pid}`)
    writeFileSync(file, '')
    rmSync(file)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    const reason = reasons[code] === undefined ? message : `${reasons[code]} (${code})`
    throw new ConfigError(`DATA_DIR must be a folder that can be written, but ${folder} is not: ${reason}.`)
  }
}

/**
 * Creates the folder and its parents. `mkdir` with `recursive` would never return below /proc, where a folder neither
 * exists nor can be created.
 */
function createFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found !== undefined) throw new Error(`${folder} is a file`)
  createFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it at the same time.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
