import { chmodSync, constants, copyFileSync, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { backup } from '@photostructure/sqlite'
import type { BackupOptions } from '../backup.ts'
import { CommandError } from '../failure.ts'
import { say, showProgress } from '../output.ts'
import { targetOf } from './target.ts'
import { readSettings } from '../../start/settings.ts'
import { openExisting, removeDatabase, secretBeside, type SqliteFile, syncFile } from './database-files.ts'
import {
  describeRows,
  type Digests,
  differingTables,
  digestsOf,
  findDamage,
  storeDigests,
} from './table-digests.ts'

/** How many pages are copied between two reports of progress. */
const pagesPerStep = 1000

/**
 * Copies the embedded database. The copy is one snapshot: it has every write that was answered before, and no part of a
 * later transaction. The server does not wait for it, but its log grows meanwhile.
 */
export async function makeBackup({ to, withSecret }: BackupOptions): Promise<void> {
  const { config } = readSettings()
  if (config.databaseUrl !== undefined) {
    throw new CommandError(
      'The data is in PostgreSQL. Make a backup with: pg_dump --format=custom --file=plenum.dump "$DATABASE_URL"',
    )
  }
  const target = targetOf(to)
  const secret = join(config.dataDir, 'secret.key')
  const secretTarget = withSecret ? secretBeside(target) : undefined
  for (const file of [target, ...(secretTarget === undefined ? [] : [secretTarget])]) {
    if (existsSync(file)) throw new CommandError(`${file} exists already. Choose another name.`)
  }
  if (withSecret && !existsSync(secret)) {
    throw new CommandError(`${secret} does not exist: the secret is in SECRET_KEY. Leave out --with-secret.`)
  }

  const partial = `${target}.partial`
  const source = openExisting(join(config.dataDir, 'plenum.db'))
  try {
    // The first read opens the snapshot, which ends when the source is closed.
    source.exec('pragma query_only = on; begin')
    const rows = describeRows(source)
    removeDatabase(partial)
    await copyPages(source, partial)
    check(source, partial)
    chmodSync(partial, 0o600)
    syncFile(partial)
    if (existsSync(target)) throw new CommandError(`${target} exists already. Choose another name.`)
    renameSync(partial, target)
    syncFile(target)
    if (secretTarget !== undefined) {
      copyFileSync(secret, secretTarget, constants.COPYFILE_EXCL)
      chmodSync(secretTarget, 0o600)
      syncFile(secretTarget)
    }
    say(`${rows}, checked.`)
    if (secretTarget === undefined) {
      say(
        'The secret is not in the backup. Keep a copy of it in another place: without it, the backup is useless.',
      )
    }
    console.log(target)
  } finally {
    source.close()
    removeDatabase(partial)
  }
}

async function copyPages(source: SqliteFile, partial: string): Promise<void> {
  const progress = showProgress('Copying')
  await backup(source, partial, {
    rate: pagesPerStep,
    progress: ({ totalPages, remainingPages }) => progress.update(totalPages - remainingPages, totalPages),
  })
  progress.end()
}

/** Throws unless the copy is undamaged and every table has the same rows as the snapshot. Stores the digests in the copy. */
function check(source: SqliteFile, partial: string): void {
  const copy = openExisting(partial)
  try {
    // A backup is one file, without a log.
    copy.exec('pragma journal_mode = delete')
    const damage = findDamage(copy)
    if (damage !== undefined)
      throw new CommandError(
        `The database is damaged, so there is no backup: ${damage}. Restore an earlier one with: plenum restore`,
      )
    const [expected, found] = digestsOf([source, copy]) as [Digests, Digests]
    const differing = differingTables(expected, found)
    if (differing.length > 0)
      throw new CommandError(
        `The copy differs from the database in ${differing.join(', ')}, so it was removed. Run the command again. If this happens again, check the disk.`,
      )
    storeDigests(copy, found)
  } finally {
    copy.close()
  }
}
