import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  constants,
  existsSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createSecrets, loadSecrets, type Secrets } from '../../access/credentials/secrets.ts'
import { newSigningKey } from '../../access/tokens/user-tokens.ts'
import type { Config } from '../../config.ts'
import { readSettings } from '../../start/settings.ts'
import { lockFolder } from '../../store/engine/sqlite.ts'
import type { SharedDatabase } from '../../store/engine/sqlite-beside.ts'
import * as signingKeys from '../../store/signing-keys.ts'
import { syncFile, unusedName } from '../backups/database-files.ts'
import { matches, openShared, requireMatchingSecret, requireNoServer } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { say } from '../output.ts'
import type { RotateOptions } from '../rotate-secret.ts'
import { resealAll } from './reseal.ts'

/**
 * Replaces the secret. The new one is on disk before the database changes, and the database changes in one transaction. So
 * the command can be repeated after a crash: it then finds that the new secret already matches, and finishes.
 */
export async function rotateSecret({ yes, newSecret, signOutUsers }: RotateOptions): Promise<void> {
  const { config } = readSettings()
  const file = newSecretFile(config, newSecret)
  if (!yes) throw new UsageError(consequences(signOutUsers ?? false))

  const release = config.databaseUrl === undefined ? lockFolder(config.dataDir) : () => {}
  let database: SharedDatabase | undefined
  try {
    database = await openShared(config)
    const current = loadSecrets(config)
    const next = createSecrets(readOrCreate(file))
    const isStored = {
      current: await matches(current, database.read),
      next: await matches(next, database.read),
    }
    if (isStored.current && isStored.next) {
      throw new CommandError(
        `${file} has the present secret. Name a file that does not exist: it gets a new one.`,
      )
    }
    // An earlier run was interrupted after it had changed the database.
    if (isStored.next) say('The stored secrets already match the new secret.')
    else
      say(
        `Stored secrets that were encrypted again: ${await replace(database, current, next, signOutUsers ?? false)}.`,
      )
    if (config.secretKey === undefined) finish(config, file)
    else say(`Set SECRET_KEY to the content of ${file} for every server, and delete the file.`)
    say(
      'Start the servers, and give your backends their new auth tokens, which "plenum token --kind backend" prints.',
    )
    say('Backups from before need the old secret.')
  } finally {
    await database?.close()
    release()
  }
}

function newSecretFile({ secretKey, dataDir }: Config, option: string | undefined): string {
  if (secretKey === undefined) {
    if (option === undefined) return join(dataDir, 'secret.key.new')
    throw new UsageError(
      'The secret is in the file secret.key in DATA_DIR, which is replaced. Leave out --new-secret.',
    )
  }
  if (option !== undefined) return option
  throw new UsageError('SECRET_KEY is set, so --new-secret must name a file for the new secret.')
}

const consequences = (signsOutUsers: boolean) =>
  [
    'After the rotation these become invalid:',
    '  - the auth tokens of all workspaces and API keys; backends need new ones',
    '  - links to unsubscribe in mails that were sent, and page tokens',
    signsOutUsers ? '  - all user tokens' : 'User tokens stay valid, except with --sign-out-users.',
    'Stop all servers, make a backup, and repeat the command with --yes.',
  ].join('\n')

/** The secret in the file. A new one is on disk before this returns. */
function readOrCreate(file: string): string {
  if (!existsSync(file)) {
    writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
    syncFile(file)
  }
  const secret = readFileSync(file, 'utf8').trim()
  if (secret.length < 32) throw new CommandError(`${file} must have at least 32 characters.`)
  return secret
}

function replace(
  database: SharedDatabase,
  current: Secrets,
  next: Secrets,
  signsOutUsers: boolean,
): Promise<number> {
  return database.write(async (db) => {
    // A server that starts now waits for this lock, and then finds that its secret does not match.
    if (database.dialect === 'postgres')
      await sql`lock table signing_keys in access exclusive mode`.execute(db)
    if (database.dialect === 'postgres') await requireNoServer(db)
    await requireMatchingSecret(current, db)
    const count = await resealAll(db, current, next)
    if (signsOutUsers) {
      await signingKeys.removeAll(db)
      await signingKeys.add(db, await newSigningKey(next, Date.now()))
    }
    return count
  })
}

/** Puts the new secret in place, and keeps the old one for old backups. */
function finish({ dataDir }: Config, file: string): void {
  const present = join(dataDir, 'secret.key')
  const kept = unusedName(`${present}.before-`)
  copyFileSync(present, kept, constants.COPYFILE_EXCL)
  chmodSync(kept, 0o600)
  renameSync(file, present)
  syncFile(present)
  say(`The new secret is in ${present}, the old one in ${kept}.`)
}
