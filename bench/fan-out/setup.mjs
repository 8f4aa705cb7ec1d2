// Installs the compared servers if they are missing. Plain JavaScript without dependencies, because it runs before npm ci.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('.', import.meta.url))
if (!existsSync(`${cwd}node_modules/.package-lock.json`)) {
  console.error('Installing the compared servers (npm ci in bench/fan-out) …')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd, stdio: 'inherit' })
  process.exitCode = status ?? 1
}
