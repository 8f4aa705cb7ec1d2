import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const run = (...args: string[]) =>
  // A process that does not end is killed after the timeout, and the promise rejects.
  promisify(execFile)(process.execPath, args, { cwd: root, timeout: 120_000 })

test('[K10.1] a process that creates a connection and opens nothing ends by itself', async () => {
  const program = join(import.meta.dirname, 'support/server-rendering.ts')
  const { stdout } = await run('--conditions=plenum-source', '--import', 'tsx', program)
  expect(stdout).toBe('connecting')
})

test('[K10.1] the built hooks begin with the directive use client', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-client-'))
  try {
    const build = `import { bundleClient } from './scripts/bundle.mjs'; await bundleClient(${JSON.stringify(dir)})`
    await run('--input-type=module', '-e', build)
    expect(readFileSync(join(dir, 'react.js'), 'utf8')).toMatch(/^["']use client["'];?\n/)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
