// `npm run example`: a Plenum server, the backend of an application, and its page, on this machine.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startBackend } from './backend.ts'
import { buildPage } from './build.ts'

const folder = import.meta.dirname
const root = join(folder, '..')
const dataDir = process.env.EXAMPLE_DATA_DIR ?? join(folder, 'data')
const serverPort = process.env.PLENUM_PORT ?? '4001'
const pagePort = Number(process.env.EXAMPLE_PORT ?? 4100)
const plenumUrl = `http://localhost:${serverPort}`

mkdirSync(dataDir, { recursive: true })
const server = spawn(process.execPath, ['--enable-source-maps', 'packages/server/dist/main.js'], {
  cwd: root,
  env: { ...process.env, PORT: serverPort, HOST: 'localhost', DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
  stdio: 'inherit',
})
server.once('exit', (code) => process.exit(code ?? 1))
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    server.kill('SIGTERM')
    void once(server, 'exit').then(() => process.exit(0))
  })
}

const isReady = () =>
  fetch(`${plenumUrl}/readyz`).then(
    (response) => response.ok,
    () => false,
  )
while (!(await isReady())) await new Promise((later) => setTimeout(later, 50))

const page = await buildPage()
const { url } = await startBackend({ plenumUrl, dataDir, page, port: pagePort })
console.log(`\nTwo people in one document: ${url}\nOpen it in several windows if you like. Ctrl+C ends it.\n`)
