import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const run = (...args: string[]) =>
  // Killed after the time limit; then this rejects.
  promisify(execFile)(process.execPath, args, { cwd: root, timeout: 120_000 })

test('[K10.1] a process that only created a connection ends by itself', async () => {
  const program = join(import.meta.dirname, 'support/server-rendering.ts')
  const { stdout } = await run('--conditions=plenum-source', '--import', 'tsx', program)
  expect(stdout).toBe('connecting')
})

test('[K10.1] the built hooks begin with the directive of client modules', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-client-'))
  try {
    const build = `import { bundleClient } from './scripts/bundle.mjs'; await bundleClient(${JSON.stringify(dir)})`
    await run('--input-type=module', '-e', build)
    expect(readFileSync(join(dir, 'react.js'), 'utf8')).toMatch(/^["']use client["'];?\n/)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
