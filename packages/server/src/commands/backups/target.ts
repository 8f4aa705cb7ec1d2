import { statSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { CommandError } from '../failure.ts'
import { unusedName } from './database-files.ts'

/**
 * The file to which `--to` leads. Its folder must exist: if the disk for backups is not mounted, the backup would otherwise
 * go to the disk of the database, and nobody would notice.
 */
export function targetOf(to: string): string {
  const folder = statSync(to, { throwIfNoEntry: false })?.isDirectory() ? to : undefined
  if (folder !== undefined) return unusedName(join(folder, 'plenum-'), '.db')
  const namesFolder = /[\\/]$/.test(to) || extname(to) === ''
  const needed = namesFolder ? resolve(to) : dirname(resolve(to))
  if (!namesFolder && statSync(needed, { throwIfNoEntry: false })?.isDirectory()) return resolve(to)
  const file = namesFolder ? ', or name a file with an ending, such as backup.db' : ''
  throw new CommandError(
    `The folder ${needed} does not exist. If it is on another disk, check that the disk is mounted. To create it: mkdir -p "${needed}"${file}`,
  )
}
