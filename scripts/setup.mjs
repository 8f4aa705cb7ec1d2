// Makes a fresh checkout runnable: checks the Node version, and installs the locked packages if they are missing.
// Plain JavaScript without dependencies, because it runs before any dependency is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = `${root}node_modules/`

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

function requireNode() {
  const wanted = JSON.parse(read(`${root}package.json`)).engines.node
  const [major, minor] = wanted.match(/\d+/g).map(Number)
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return
  console.error(`Plenum needs Node ${wanted}, but ${process.execPath} is Node ${process.versions.node}.`)
  console.error('Install a newer Node, put it first on the PATH, and run the command again.')
  process.exit(1)
}

/** Whether npm's record of node_modules matches the lock file, as it does after a manual `npm install`. */
function isInstalled(lock) {
  const record = read(`${modules}.package-lock.json`)
  if (record === undefined) return false
  const wanted = JSON.parse(lock).packages
  const found = JSON.parse(record).packages
  // Optional packages may be missing: they are for other platforms.
  const complete = Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    if (!path.includes('node_modules/')) return true
    const own = found[path]
    return own === undefined ? optional === true : own.version === version && own.integrity === integrity
  })
  // An earlier lock file had no link for the command `npx plenum`.
  const isLinked = existsSync(`${modules}.bin/plenum`)
  return complete && isLinked && Object.keys(found).every((path) => path in wanted)
}

function install() {
  console.log('Installing the packages in package-lock.json (npm ci) …')
  const cli = process.env.npm_execpath
  const [command, ...before] = cli?.endsWith('npm-cli.js') ? [process.execPath, cli] : ['npm']
  // --include=dev: with NODE_ENV=production, npm would leave out packages that a later `npm test` needs.
  const args = [...before, 'ci', '--no-audit', '--no-fund', '--include=dev']
  const shell = command === 'npm' && process.platform === 'win32'
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell })
  if (error)
    console.error(
      `npm ci could not start: ${error.message}. Install npm, put it on the PATH, and run the command again.`,
    )
  else if (status !== 0) console.error(`npm ci failed (${signal ?? `exit code ${status}`}).`)
  const code = signal ? 128 + constants.signals[signal] : (status ?? 1)
  if (code !== 0) process.exit(code)
}

requireNode()
const lock = read(`${root}package-lock.json`)
if (lock === undefined) {
  console.error(
    `package-lock.json is missing in ${root}: this is not a complete checkout of Plenum. Clone it again.`,
  )
  process.exit(1)
}
const stamp = `${modules}.plenum-setup`
const hash = createHash('sha256').update(lock).digest('hex')
if (read(stamp) !== hash) {
  if (!isInstalled(lock)) install()
  try {
    writeFileSync(stamp, hash)
  } catch {
    // A read-only installation has no stamp, so every start compares all packages. That takes a few milliseconds.
  }
}
