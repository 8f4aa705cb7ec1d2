import type { Config } from '../../config.ts'
import { type Finding, failed, ok, warning } from './check.ts'

/** The oldest version of Node that runs the server. The same as `engines` in package.json. */
export const minNode = { major: 20, minor: 19 }
/** Files that the server has open besides the sockets of clients: the database, its connections, the log. */
const filesBesideSockets = 200

/** Without settings only what does not depend on them. */
export function checkMachine(config: Config | undefined): Finding[] {
  return [checkNode(process.versions.node), ...(config ? [checkOpenFiles(config)] : [])]
}

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNewEnough = major > minNode.major || (major === minNode.major && minor >= minNode.minor)
  if (isNewEnough) return ok('node', `version ${version}`)
  return failed(
    'node',
    `version ${version} is too old`,
    `Install Node ${minNode.major}.${minNode.minor} or newer.`,
  )
}

function checkOpenFiles({ limits, databasePoolSize }: Config): Finding {
  const needed = limits.connections + databasePoolSize + filesBesideSockets
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | string } }
  }
  const soft = Number(userLimits?.open_files?.soft)
  // The limit is the word "unlimited", or missing on Windows.
  if (Number.isNaN(soft)) return ok('open files', 'no limit')
  if (soft >= needed) return ok('open files', `up to ${soft}`)
  return warning(
    'open files',
    `at most ${soft}, but LIMIT_CONNECTIONS allows ${limits.connections} sockets`,
    `Raise the limit: "ulimit -n ${needed}", or LimitNOFILE=${needed} in the systemd unit.`,
  )
}
