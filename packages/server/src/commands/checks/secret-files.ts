import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../../config.ts'
import { type Finding, warning } from './check.ts'

/** Files with secrets must be readable only by their owner. */
export function checkSecretFiles({ dataDir }: Config): Finding[] {
  if (process.platform === 'win32') return []
  return ['.env', ...['secret.key', 'plenum.db', 'plenum.db-wal'].map((name) => join(dataDir, name))]
    .filter(isOpen)
    .map((file) =>
      warning('secrets', `other users of this machine can read ${file}`, `Run: chmod 600 ${file}`),
    )
}

/** Whether others can read the file. One in a folder that they cannot enter is safe. */
function isOpen(file: string): boolean {
  const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  return (modeOf(file) & 0o077) !== 0 && (modeOf(dirname(file)) & 0o011) !== 0
}
