import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerProcess } from '../../packages/server/test/support/processes/server-process.ts'
import { createTenant } from '../../attack/tenant.ts'
import { startMeasuredServer } from '../process.ts'
import type { Target } from './client.ts'
import { type Dialect, hocuspocus, yWebsocket } from './dialects.ts'

/** A server to measure. */
export interface Contender {
  name: string
  dialects: readonly Dialect[]
  /** Where a document is kept while no client has it open. */
  keeps: 'nowhere' | 'memory' | 'disk'
  start(): Promise<RunningServer>
}

export interface RunningServer {
  measured: ServerProcess
  /** Returns how a client opens the document with this name. Each client number is another user. */
  target(room: string, dialect: Dialect, client?: number): Target
  /** Starts a new process on the same data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const profile = process.env.PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE}`] : []

interface ServerOptions {
  script: string
  execArgv?: string[]
  answersSync?: boolean
  prepare?: (url: string) => Promise<{ tokens: string[]; roomOf: (name: string) => string }>
}

async function startServer(options: ServerOptions, storage: 'disk' | 'memory'): Promise<RunningServer> {
  const dataDir = storage === 'disk' ? mkdtempSync(join(tmpdir(), 'plenum-bench-')) : undefined
  const start = () => startMeasuredServer(options.script, { DATA_DIR: dataDir ?? '' }, options.execArgv)
  const measured = await start()
  const prepared = await options.prepare?.(`http://127.0.0.1:${measured.port}`)
  const running: RunningServer = {
    measured,
    target: (room, dialect, client = 0) => ({
      server: `ws://127.0.0.1:${running.measured.port}`,
      token: prepared?.tokens[client % prepared.tokens.length] ?? 'token',
      room: prepared?.roomOf(room) ?? room,
      dialect,
      answersSync: options.answersSync ?? true,
    }),
    async restart() {
      await running.measured.terminate()
      running.measured = await start()
    },
    async stop() {
      await running.measured.terminate()
      if (dataDir) rmSync(dataDir, { recursive: true, force: true })
    },
  }
  return running
}

/** One user for each client of the hot document. */
const userCount = 50

/** Creates a workspace with an API key, and tokens of users who may edit all documents of one organization. */
export async function preparePlenum(url: string) {
  const { client, headers } = await createTenant(url, 'bench@example.com')
  await client.organizations.add({ organizations: [{ organizationId: 'org', organizationName: 'Acme' }] })
  const tokens = Array.from({ length: userCount }, async (_, user) => {
    const { data } = await client.auth.generateToken({
      userId: `u${user}`,
      userProperties: { name: `User ${user}`, email: `u${user}@example.com` },
      permissions: { resources: [{ type: 'organization', id: 'org', accessRole: 'editor' }] },
    })
    return data.token
  })
  return { tokens: await Promise.all(tokens), roomOf: (name: string) => `org/${name}/text`, headers }
}

const hocuspocusServer: ServerOptions = { script: './fan-out/peers/hocuspocus.mjs' }

export const relay: Contender = {
  name: 'ws relay',
  dialects: [yWebsocket],
  keeps: 'nowhere',
  start: () => startServer({ script: './fan-out/peers/relay.mjs', answersSync: false }, 'memory'),
}

export const contenders: readonly Contender[] = [
  relay,
  {
    name: '@hocuspocus/server',
    dialects: [hocuspocus],
    keeps: 'memory',
    start: () => startServer(hocuspocusServer, 'memory'),
  },
  {
    name: '@hocuspocus/server, SQLite',
    dialects: [hocuspocus],
    keeps: 'disk',
    start: () => startServer(hocuspocusServer, 'disk'),
  },
  {
    name: 'Plenum',
    dialects: [yWebsocket, hocuspocus],
    keeps: 'disk',
    start: () =>
      startServer(
        { script: '../packages/server/dist/main.js', execArgv: profile, prepare: preparePlenum },
        'disk',
      ),
  },
]
