// Installs the peers when they are not there. Plain JavaScript, because it runs before they are.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('.', import.meta.url))
if (!existsSync(`${cwd}node_modules/.package-lock.json`)) {
  console.error('Installing the peers (npm ci in bench/fan-out) …')
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd, stdio: 'inherit' })
  process.exitCode = status ?? 1
}
