import { resolve } from 'node:path'
import type { Config } from '../config.ts'

interface Start {
  address: string
  /** What is probably not as the operator meant it. */
  hints: readonly string[]
  /** There is no workspace yet. */
  isEmpty: boolean
}

/** The first thing a new user sees: where it runs and what to type next. On standard error, because standard output is the log. */
export function printBanner(config: Config, { address, hints, isEmpty }: Start): void {
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
      '  Documents of new API keys are public: every user of the key may open and edit them.',
      '  DEFAULT_DOCUMENT_ACCESS=organizationPrivate changes that.',
      '',
    )
  }
  if (config.workspaceCreation === 'open') {
    lines.push(
      '  Anyone who reaches this server can create a workspace. WORKSPACE_CREATION=closed ends that.',
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
