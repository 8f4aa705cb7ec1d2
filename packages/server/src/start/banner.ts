import { resolve } from 'node:path'
import type { Config } from '../config.ts'

interface BannerInfo {
  address: string
  /** One sentence for each setting that is probably misspelled. */
  hints: readonly string[]
  /** Whether the database has no workspace yet. */
  isEmpty: boolean
}

/**
 * Prints what a new user sees first: the URL, and what to type next. Prints to standard error, because standard output is
 * the log.
 */
export function printBanner(config: Config, { address, hints, isEmpty }: BannerInfo): void {
  const { port } = new URL(address)
  const url = `http://localhost:${port}`
  const lines = [
    '',
    '  Plenum is running. Ctrl-C stops it.',
    '',
    `    address   ${url}`,
    `    docs      ${url}/docs`,
    `    data      ${config.databaseUrl === undefined ? resolve(config.dataDir) : 'PostgreSQL'}`,
    '',
  ]
  if (config.defaultDocumentAccess === 'public') {
    lines.push(
      '  Documents of new API keys are public: every user of the key can open and edit them.',
      '  Set DEFAULT_DOCUMENT_ACCESS=organizationPrivate to change that.',
      '',
    )
  }
  if (config.workspaceCreation === 'open') {
    lines.push(
      '  Anyone who can reach this server can create a workspace. Set WORKSPACE_CREATION=closed to prevent that.',
      '',
    )
  }
  if (hints.length > 0) lines.push(...hints.map((hint) => `  ${hint}`), '')
  if (isEmpty && config.workspaceCreation === 'open') {
    lines.push(
      '  Create your first workspace:',
      '',
      `    curl -s ${url}/v2/workspace/create -H 'content-type: application/json' \\`,
      `      -d '{"data":{"ownerEmail":"you@example.com","workspaceName":"My Workspace"}}'`,
      '',
    )
  }
  console.error(lines.join('\n'))
}
