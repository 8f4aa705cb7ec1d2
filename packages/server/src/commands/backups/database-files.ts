import { closeSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { CommandError } from '../failure.ts'

export type SqliteFile = InstanceType<typeof DatabaseSync>

/** The secret that belongs to a backup, if it was asked for. */
export const secretBeside = (backup: string): string => `${backup}.secret.key`

/** A name with the time that no file has. */
export function unusedName(prefix: string, suffix = ''): string {
  const name = `${prefix}${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}`
  let unused = `${name}${suffix}`
  for (let count = 2; existsSync(unused); count++) unused = `${name}-${count}${suffix}`
  return unused
}

export function openExisting(file: string): SqliteFile {
  if (!existsSync(file)) throw new CommandError(`${file} does not exist.`)
  const db = new DatabaseSync(file)
  db.exec('pragma busy_timeout = 5000; pragma wal_autocheckpoint = 0')
  return db
}

/** Resolves when the file and its name are on disk. */
export function syncFile(file: string): void {
  for (const path of [file, dirname(file)]) {
    const opened = openSync(path, 'r')
    fsyncSync(opened)
    closeSync(opened)
  }
}

export function removeDatabase(file: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
}
