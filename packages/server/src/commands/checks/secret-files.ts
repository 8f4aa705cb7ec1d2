import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { type Finding, warning } from './check.ts'

/** Files with secrets must be readable only by their owner. */
export function checkSecretFiles({ dataDir }: Config): Finding[] {
  if (process.platform === 'win32') return []
  return ['.env', join(dataDir, 'secret.key'), join(dataDir, 'plenum.db')]
    .filter((file) => isOpenTo(file, dataDir))
    .map((file) =>
      warning('secrets', `other users of this machine can read ${file}`, `Run: chmod 600 ${file}`),
    )
}

/** A file in a folder that others cannot enter is safe. */
function isOpenTo(file: string, dataDir: string): boolean {
  const others = 0o077
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
  const folder = file.startsWith(dataDir) ? statSync(dataDir).mode & 0o011 : 1
  return (mode & others) !== 0 && folder !== 0
}
