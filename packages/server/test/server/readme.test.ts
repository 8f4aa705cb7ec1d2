import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { useServer } from '../support/harness.ts'

const readme = readFileSync(join(import.meta.dirname, '../../../../README.md'), 'utf8')

/** Returns the code blocks of a section, in their order. */
function codeIn(section: string, language: string): string[] {
  const [text = ''] = readme.split(`\n## ${section}\n`)[1]?.split('\n## ') ?? []
  const blocks = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\``, 'gm'))
  return [...blocks].map(([, indent = '', code = '']) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
}

describe('[E2] the README', () => {
  const server = useServer('sqlite')
  let folder: string
  const running = new Set<ChildProcess>()
  beforeAll(() => {
    // Below the packages, so that their dependencies are found.
    folder = mkdtempSync(join(import.meta.dirname, '.readme-'))
  })
  afterEach(() => {
    for (const child of running) child.kill()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Starts a command and collects its output. */
  function start(command: string, args: string[], env: NodeJS.ProcessEnv = {}) {
    const child = spawn(command, args, { cwd: folder, env: { ...process.env, ...env } })
    running.add(child)
    const output = { text: '' }
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output.text += data))
    return { child, output }
  }
  /** Returns code of the README with the address of this server. */
  const here = (code: string) => code.replaceAll('localhost:4000', new URL(server.url).host)

  test('[E2] the steps of the README print the text of an editor and a user token that connects to it', async () => {
    const steps = codeIn('Five minutes', 'sh')
    expect(steps).toHaveLength(5)
    const script = ['set -eu', ...steps, 'echo', 'echo "USER_TOKEN is $USER_TOKEN"'].join('\n')
    const { child, output } = start('sh', ['-c', here(script)])
    const [code] = await once(child, 'close')
    expect(code, output.text).toBe(0)
    expect(output.text).not.toContain('"error"')
    expect(output.text.match(/"status":"success"/g)).toHaveLength(6)
    expect(output.text).toContain('"data":"Hello","id":"notes"')
    const [, token] = /USER_TOKEN is (\S+)/.exec(output.text) ?? []

    const [live = ''] = codeIn('Live editing', 'js')
    writeFileSync(join(folder, 'live.mjs'), here(live))
    const [install = '', run = ''] = codeIn('Live editing', 'sh')[0]?.trim().split('\n') ?? []
    expect(install).toBe('npm install yjs y-websocket ws')
    expect(run).toBe('USER_TOKEN=$USER_TOKEN node live.mjs')
    const joined = start('node', ['live.mjs'], { USER_TOKEN: token })
    await expect.poll(() => joined.output.text).toBe('Hello\n')
  })
})
