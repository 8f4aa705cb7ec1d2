import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Builds the server and the controls into a new folder. Others may build their own at the same time. */
export function buildPrograms(): { folder: string; remove: () => void } {
  mkdirSync(`${root}lab/dist`, { recursive: true })
  const folder = mkdtempSync(`${root}lab/dist/`)
  const controls = [
    'packages/server/test/support/processes/early-answers.ts',
    'lab/programs/changed-server.ts',
  ]
  execFileSync(process.execPath, ['scripts/build.mjs', '--server', folder, ...controls], { cwd: root })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
