// `npm run example`: a Plenum server, the backend of an application, and its page, on this machine.
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startBackend } from './backend.ts'
import { buildPage } from './build.ts'

const folder = import.meta.dirname
const dataDir = resolve(process.env.EXAMPLE_DATA_DIR ?? join(folder, 'data'))
const serverPort = process.env.PLENUM_PORT ?? '4001'
const pagePort = Number(process.env.EXAMPLE_PORT ?? 4100)
const plenumUrl = `http://localhost:${serverPort}`

mkdirSync(dataDir, { recursive: true })
const server = spawn(
  process.execPath,
  ['--enable-source-maps', join(folder, '../packages/server/dist/main.js')],
  {
    // Settings of another server, in the environment or in the .env file of the repository, do not count.
    cwd: dataDir,
    env: { PORT: serverPort, DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
    stdio: 'inherit',
  },
)
let failed = false
server.once('exit', (code) => process.exit(failed ? 1 : (code ?? 1)))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill('SIGTERM'))

const isReady = () =>
  fetch(`${plenumUrl}/readyz`).then(
    (response) => response.ok,
    () => false,
  )

try {
  const page = await buildPage()
  while (!(await isReady())) await new Promise((later) => setTimeout(later, 50))
  const { url } = await startBackend({ plenumUrl, dataDir, page, port: pagePort })
  console.log(
    `\nTwo people in one document: ${url}\nOpen it in several windows if you like. Ctrl+C ends it.\n`,
  )
} catch (error) {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') console.error(`Port ${pagePort} is in use. Set EXAMPLE_PORT to another one.`)
  else console.error('The example cannot start:', error)
  failed = true
  server.kill('SIGTERM')
}
