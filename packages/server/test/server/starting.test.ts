import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { failToStart, startProcess } from '../support/processes/process.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-start-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts and stops a server, and returns its output and its log. */
async function run(env: Record<string, string>, cwd?: string): Promise<{ printed: string; log: string }> {
  const server = await startProcess(
    'server',
    { DATA_DIR: newFolder(), LOG_LEVEL: 'info', ...env },
    { stdout: 'pipe', stderr: 'pipe', ...(cwd !== undefined && { cwd }) },
  )
  const { stdout, stderr } = server.child
  if (!stdout || !stderr) throw new Error('The server has no pipes.')
  const [log, printed, code] = await Promise.all([text(stdout), text(stderr), server.terminate()])
  expect(code).toBe(0)
  return { printed, log }
}

describe('[C2] names that are not settings', () => {
  test('[C2] [C2.1] the server warns about unknown names in .env and misspelled ones in the environment, in its log and output, without their values', async () => {
    const cwd = newFolder()
    writeFileSync(
      join(cwd, '.env'),
      'LOG_LEVLE=canary\nMY_OWN=canary\nDURABILITY=relaxed\nPGSSLMODE=disable\n',
    )
    const { printed, log } = await run({ DATABASE_URI: 'canary' }, cwd)
    const hints = [
      'LOG_LEVLE in .env is not a setting. Did you mean LOG_LEVEL?',
      'MY_OWN in .env is not a setting.',
      'DATABASE_URI in the environment is not a setting. Did you mean DATABASE_URL?',
    ]
    const warnings = log
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { level: string; msg: string })
      .filter(({ level }) => level === 'warn')
    expect(warnings.map(({ msg }) => msg)).toEqual(hints)
    expect(printed.match(/^.*is not a setting.*$/gm)).toEqual(hints.map((hint) => `  ${hint}`))
    expect(printed + log).not.toContain('canary')
  })

  test('[C2.1] a server that cannot start reports misspelled settings after the reason', async () => {
    const cwd = newFolder()
    writeFileSync(join(cwd, '.env'), 'SECRET_KYE=canary\nDATABASE_URL=postgres://localhost/plenum\n')
    const { code, says } = await failToStart({}, { cwd })
    expect(code).toBe(1)
    expect(says).toMatch(
      /^Plenum cannot start: SECRET_KEY must be set when DATABASE_URL is.+\nSECRET_KYE in \.env is not a setting\. Did you mean SECRET_KEY\?\n$/,
    )
  })
})

describe('[C1] a data folder that cannot be used', () => {
  const refused = (folder: string, reason: string) => ({
    code: 1,
    says: `Plenum cannot start: DATA_DIR must be a folder that can be written, but ${folder} is not: ${reason}.\n`,
  })

  test('[C1] the server does not start if the file system allows no new files in DATA_DIR', async () => {
    const reason = 'the file system does not allow new files there (ENOENT)'
    for (const DATA_DIR of ['/proc/x', '/proc/x/y', '/proc']) {
      expect(await failToStart({ DATA_DIR, PORT: '0' })).toEqual(refused(DATA_DIR, reason))
    }
  })

  test('[C1] the server does not start if DATA_DIR is a file or below a file', async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    expect(await failToStart({ DATA_DIR: file, PORT: '0' })).toEqual(refused(file, `${file} is a file`))
    const below = join(file, 'below')
    const reason = 'a part of its path is a file (ENOTDIR)'
    expect(await failToStart({ DATA_DIR: below, PORT: '0' })).toEqual(refused(below, reason))
  })
})

describe('[1.1.4] the output of the server at start', () => {
  const publicDocuments =
    'Documents of new API keys are public: every user of the key can open and edit them.'
  const openCreation = 'Anyone who can reach this server can create a workspace.'

  test('[1.1.4] with the default settings, the server prints at start that documents are public and that anyone can create a workspace', async () => {
    const { printed } = await run({})
    expect(printed).toContain(publicDocuments)
    expect(printed).toContain(openCreation)
  })

  test('[1.1.4] with stricter settings, the server prints neither that documents are public nor that anyone can create a workspace', async () => {
    const { printed } = await run({
      WORKSPACE_CREATION: 'closed',
      DEFAULT_DOCUMENT_ACCESS: 'organizationPrivate',
    })
    expect(printed).toContain('Plenum is running')
    expect(printed).not.toContain('are public')
    expect(printed).not.toContain('create a workspace')
    expect(printed).not.toContain('Create your first workspace')
  })
})
