import { type Config, ConfigError, readConfig } from '../../config.ts'
import { loadEnvironment } from '../../start/settings.ts'
import { type Finding, failed, ok, warning } from './check.ts'
import { checkDatabase } from './database.ts'
import { checkDisk } from './disk.ts'
import { checkMachine } from './machine.ts'
import { checkPort } from './port.ts'
import { checkMail, checkRedis } from './services.ts'
import { checkSecretFiles } from './secret-files.ts'

/** Runs all checks one after the other, and prints each finding when it is known. Returns whether none has failed. */
export async function runChecks({ asJson }: { asJson: boolean }): Promise<boolean> {
  const findings: Finding[] = []
  const report = (more: readonly Finding[]) => {
    findings.push(...more)
    if (!asJson) for (const finding of more) console.log(lineOf(finding))
  }
  const { environment, hints } = loadEnvironment()
  report(hints.map((hint) => warning('settings', hint, 'Correct the name, or remove it.')))
  const config = readSettings(environment, report)
  report(checkMachine(config))
  if (config) {
    report(checkSecretFiles(config))
    report(await checkDisk(config))
    report(await checkDatabase(config))
    report(await checkPort(config))
    report(await checkRedis(environment.REDIS_URL))
    report(await checkMail(config))
  }
  const isHealthy = findings.every(({ status }) => status !== 'failed')
  if (asJson) console.log(JSON.stringify({ isHealthy, checks: findings }, undefined, 2))
  return isHealthy
}

function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
  report: (findings: Finding[]) => void,
): Config | undefined {
  try {
    const config = readConfig(environment)
    report([ok('settings', 'all values are valid'), ...openToAll(config)])
    return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const advice = '.env.example lists every setting with its values.'
    report(error.message.split('\n').map((message) => failed('settings', message, advice)))
    return undefined
  }
}

/** A server that others can reach should not let everyone create workspaces. */
function openToAll({ workspaceCreation, host, publicOrigins }: Config): Finding[] {
  const isLocal = ['localhost', '127.0.0.1', '::1'].includes(host) && publicOrigins.length === 0
  if (isLocal || workspaceCreation === 'closed') return []
  const advice = 'Set WORKSPACE_CREATION=closed after you have created your workspace.'
  return [warning('settings', 'Anyone who can reach this server can create a workspace.', advice)]
}

function lineOf({ check, status, message, advice }: Finding): string {
  const line = `${status.padEnd(8)} ${check.padEnd(10)} ${message}`
  return advice === undefined ? line : `${line}\n${' '.repeat(20)}${advice}`
}
