// `npm run example` starts a Plenum server, the backend of an application, and the page of the application.
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startBackend } from './backend.ts'
import { buildPage } from './build.ts'

const folder = import.meta.dirname
const dataDir = resolve(process.env.EXAMPLE_DATA_DIR ?? join(folder, 'data'))
const serverPort = process.env.PLENUM_PORT ?? '4001'
const pagePort = Number(process.env.EXAMPLE_PORT ?? process.env.PORT ?? 4100)
const plenumUrl = `http://localhost:${serverPort}`

mkdirSync(dataDir, { recursive: true })
const server = spawn(
  process.execPath,
  ['--enable-source-maps', join(folder, '../packages/server/dist/main.js')],
  {
    // The environment and the .env file of the repository configure another server, so this server uses neither.
    cwd: dataDir,
    env: { PORT: serverPort, DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
    stdio: 'inherit',
  },
)
let hasFailed = false
server.once('exit', (code) => process.exit(hasFailed ? 1 : (code ?? 1)))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill('SIGTERM'))

const isReady = () =>
  fetch(`${plenumUrl}/readyz`).then(
    (response) => response.ok,
    () => false,
  )

try {
  const pageDir = await buildPage()
  while (!(await isReady())) await new Promise((done) => setTimeout(done, 50))
  const { url } = await startBackend({ plenumUrl, dataDir, pageDir, port: pagePort })
  console.log(
    `\nTwo users in one document: ${url}\nYou can open it in several windows. Press Ctrl-C to stop.\n`,
  )
} catch (error) {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') console.error(`Port ${pagePort} of the page is in use. Set PORT to a free port.`)
  else console.error('The example could not start:', error)
  hasFailed = true
  server.kill('SIGTERM')
}
