import { resolve } from 'node:path'
import type { Config } from './config.ts'

/** The first thing a new user sees: where it runs and what to type next. */
export function printBanner(config: Config, address: string): void {
  const { port } = new URL(address)
  const url = `http://localhost:${port}`
  console.log(`
  Plenum is running.

    address   ${url}
    docs      ${url}/docs
    data      ${config.databaseUrl === undefined ? resolve(config.dataDir) : 'PostgreSQL'}

  Create your first workspace:

    curl -s ${url}/v2/workspace/create -H 'content-type: application/json' \\
      -d '{"data":{"ownerEmail":"you@example.com","workspaceName":"My Workspace"}}'
`)
}
