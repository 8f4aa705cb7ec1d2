import { execFile, spawn } from 'node:child_process'
import { cpSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { newFolder } from '../support/data/folders.ts'
import { freePort } from '../support/services/postgres.ts'

const root = resolve(import.meta.dirname, '../../../..')
const names = ['protocol', 'client', 'server'] as const
const execute = promisify(execFile)
const run = async (cwd: string, program: string, ...args: string[]) =>
  (await execute(program, args, { cwd, maxBuffer: 16 * 1024 * 1024 })).stdout.trim()

const application = `
  import { createClient } from '@plenum/client'
  import { operations } from '@plenum/protocol'
  import { WebSocket } from 'ws'
  const [, , url, token] = process.argv
  const open = () => createClient({ url }).connect({ token, WebSocket })
  const [one, two] = [open(), open()]
  const text = (connection) => connection.document('acme', 'plan').editor('notes').doc.getText('content')
  text(one).insert(0, 'typed')
  await one.document('acme', 'plan').editor('notes').whenSaved()
  const seen = text(two)
  while (seen.toString() === '') await new Promise((resolve) => seen.observe(resolve))
  console.log(JSON.stringify({ seen: seen.toString(), path: operations.documents.add.path }))
  one.close()
  two.close()
`

test('[D6] npm links npx plenum in a clone, also before the program is built', async () => {
  const program = join(root, 'packages/server/bin/plenum.mjs')
  expect(realpathSync(join(root, 'node_modules/.bin/plenum'))).toBe(realpathSync(program))
  const clone = newFolder()
  cpSync(join(root, 'packages/server/bin'), join(clone, 'bin'), { recursive: true })
  await expect(run(clone, process.execPath, 'bin/plenum.mjs')).rejects.toThrow('npm run build')
})

test('[D6] the packed packages, installed into an empty folder, give npx plenum start and a client that works with it', async () => {
  const folder = newFolder()
  await run(
    root,
    'npm',
    'pack',
    '--silent',
    '--pack-destination',
    folder,
    ...names.flatMap((one) => ['-w', `packages/${one}`]),
  )
  const archives = readdirSync(folder).map((file) => join(folder, file))
  expect(archives).toHaveLength(names.length)
  for (const archive of archives) {
    const files = (await run(folder, 'tar', '-tzf', archive)).split('\n')
    for (const file of ['README.md', 'LICENSE']) expect(files).toContain(`package/${file}`)
    expect(files.filter((file) => /\.map$|\/src\/|\.test\./.test(file))).toEqual([])
  }

  const project = newFolder()
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
  // Nothing is compiled: the addon of SQLite is in its package.
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--silent']
  await run(project, 'npm', 'install', ...options, ...archives, 'yjs')
  expect(readdirSync(join(project, 'node_modules'))).not.toContain('kysely')

  const port = await freePort()
  const env = { ...process.env, PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'fatal' }
  // In a group of its own, because npx starts the server through a shell.
  const server = spawn('npx', ['--no', 'plenum', 'start'], {
    cwd: project,
    env,
    stdio: 'ignore',
    detached: true,
  })
  onTestFinished(() => void process.kill(-(server.pid ?? 0), 'SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await expect.poll(isReady, { timeout: 60_000 }).toBe(true)

  const token = await run(project, 'npx', '--no', 'plenum', 'token', '--create-workspace', 'Demo')
  writeFileSync(join(project, 'main.js'), application)
  const printed = await run(project, process.execPath, 'main.js', url, token)
  expect(JSON.parse(printed)).toEqual({ seen: 'typed', path: '/organizations/documents/add' })
  // The script and the description of the interface are in the package too.
  expect((await fetch(`${url}/docs`)).status).toBe(200)
  expect((await fetch(`${url}/openapi.json`)).status).toBe(200)
})
