// Checks openapi.json against the OpenAPI standard, with the linter's telemetry and update check switched off.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { status } = spawnSync(
  process.execPath,
  [`${root}node_modules/@redocly/cli/bin/cli.js`, 'lint', 'openapi.json'],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  },
)
process.exit(status ?? 1)
