import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A program that tests start, and that npm does not install. */
interface Program {
  name: string
  /** Where the program was found: the path of its file or, if it consists of several, of their folder. */
  find(): string | undefined
  /** The Debian package that contains it. */
  debianPackage: string
  /** What a user can do without this package. */
  otherwise?: string
  /** Keeps the package from starting a system-wide server. */
  withoutServer?: (install: () => void) => void
}

/** Thrown when a test needs a program that is missing and cannot be installed. The test is then skipped (`runner.ts`). */
export class MissingProgram extends Error {
  override readonly name = 'MissingProgram'
}

const foldersOfPath = () => (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')

const firstInPath = (names: readonly string[]) =>
  foldersOfPath()
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file))

/** The folder with `initdb` and `postgres`. On Debian it depends on the version and is not on the PATH. */
function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...foldersOfPath(), ...versions.map((version) => join(debian, version, 'bin'))]
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))))
}

/** Creates no system-wide cluster, which the package would otherwise set up and start. */
function withoutCluster(install: () => void): void {
  const config = '/etc/postgresql-common/createcluster.d'
  const ownConfig = join(config, 'plenum.conf')
  const firstCreated = mkdirSync(config, { recursive: true })
  writeFileSync(ownConfig, 'create_main_cluster = false\n')
  try {
    install()
  } finally {
    rmSync(ownConfig)
    if (firstCreated && readdirSync(config).length === 0) rmdirSync(config)
  }
}

export const postgresPrograms: Program = {
  name: 'PostgreSQL',
  find: findPostgres,
  debianPackage: 'postgresql',
  otherwise:
    'name a server on which databases may be created: ' +
    'TEST_POSTGRES_URL=postgresql://user:password@127.0.0.1:5432/postgres npm test',
  withoutServer: withoutCluster,
}

export const redisProgram: Program = {
  name: 'Redis',
  find: () => firstInPath(['redis-server']),
  debianPackage: 'redis-server',
  // At this run level, the package does not start its server.
  withoutServer: (install) => withVariable('RUNLEVEL', '1', install),
}

export const pgBouncerProgram: Program = {
  name: 'PgBouncer',
  find: () => firstInPath(['pgbouncer']) ?? ['/usr/sbin/pgbouncer'].find((file) => existsSync(file)),
  debianPackage: 'pgbouncer',
  // At this run level, the package does not start its server.
  withoutServer: (install) => withVariable('RUNLEVEL', '1', install),
}

export const chromiumProgram: Program = {
  name: 'Chromium',
  find: () => firstInPath(['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']),
  debianPackage: 'chromium',
}

function withVariable(name: string, value: string, run: () => void): void {
  const before = process.env[name]
  process.env[name] = value
  try {
    run()
  } finally {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  }
}

const canInstall = () => process.getuid?.() === 0 && existsSync('/etc/debian_version')

/** Returns where the program is. Installs it first if this is Debian and we are root, otherwise throws `MissingProgram`. */
export function findOrInstall(program: Program): string {
  const found = program.find()
  if (found !== undefined) return found
  const { name, debianPackage, otherwise, withoutServer = (install: () => void) => install() } = program
  const choices = [
    `install it (on Debian: apt-get install ${debianPackage})`,
    ...(otherwise ? [otherwise] : []),
  ]
  const missing = `${name} is missing: ${choices.join(', or ')}.`
  if (!canInstall()) throw new MissingProgram(missing)
  withoutServer(() => install(name, debianPackage, missing))
  const installed = program.find()
  if (installed === undefined) throw new MissingProgram(missing)
  return installed
}

/** Several processes may need the same package at the same time: one installs it, and the others wait for the lock. */
function install(name: string, debianPackage: string, missing: string): void {
  console.log(`${name} is missing: installing the Debian package \`${debianPackage}\` with apt-get …`)
  const script = `
    dpkg-query --show --showformat '\${db:Status-Status}' "$1" 2> /dev/null | grep --quiet --line-regexp installed && exit
    apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends "$1"`
  const lock = join(tmpdir(), 'plenum-apt-get.lock')
  const { status, stdout, stderr, error } = spawnSync(
    'flock',
    [lock, 'sh', '-c', script, 'sh', debianPackage],
    {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      encoding: 'utf8',
    },
  )
  if (status === 0) return
  throw new MissingProgram(`${missing} apt-get could not install it:\n${stdout}${stderr}`, { cause: error })
}
