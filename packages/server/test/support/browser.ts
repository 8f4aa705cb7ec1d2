import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

function find(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path))
}

/** Returns the path of a Chromium from PATH. Installs one on Debian as root; otherwise returns undefined. */
export function chromiumForTests(): string | undefined {
  const found = find()
  if (found || process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return found
  console.log('Chromium is missing; installing the Debian package `chromium` with apt-get …')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'chromium']]) {
    if (spawnSync('apt-get', args, { env, stdio: 'inherit' }).status !== 0) return undefined
  }
  return find()
}
