import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../packages/client/src/rest.ts'
import { measuredProcess, type Measured } from '../process.ts'
import type { Target } from './client.ts'
import { type Dialect, hocuspocus, yWebsocket } from './dialects.ts'

/** A kind of server that is measured. */
export interface Contender {
  name: string
  dialects: readonly Dialect[]
  /** Where a document is when nobody has it open. */
  keeps: 'nowhere' | 'memory' | 'disk'
  start(): Promise<Running>
}

export interface Running {
  measured: Measured
  /** A document of that name, in that dialect; each client is another user. */
  target(room: string, dialect: Dialect, client?: number): Target
  /** A new process on the same data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const profile = process.env.PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE}`] : []

interface Described {
  script: string
  execArgv?: string[]
  answersSync?: boolean
  prepare?: (url: string) => Promise<{ tokens: string[]; roomOf: (name: string) => string }>
}

async function run(described: Described, storage: 'disk' | 'memory'): Promise<Running> {
  const dataDir = storage === 'disk' ? mkdtempSync(join(tmpdir(), 'plenum-bench-')) : undefined
  const start = () => measuredProcess(described.script, { DATA_DIR: dataDir ?? '' }, described.execArgv)
  const measured = await start()
  const prepared = await described.prepare?.(`http://127.0.0.1:${measured.port}`)
  const running: Running = {
    measured,
    target: (room, dialect, client = 0) => ({
      server: `ws://127.0.0.1:${running.measured.port}`,
      token: prepared?.tokens[client % prepared.tokens.length] ?? 'token',
      room: prepared?.roomOf(room) ?? room,
      dialect,
      answersSync: described.answersSync ?? true,
    }),
    async restart() {
      await running.measured.stop()
      running.measured = await start()
    },
    async stop() {
      await running.measured.stop()
      if (dataDir) rmSync(dataDir, { recursive: true, force: true })
    },
  }
  return running
}

/** As many as the hot document has clients. */
const users = 50

/** A workspace, a key, and the tokens of users who may edit all documents of one organization. */
async function preparePlenum(url: string) {
  const { data: workspace } = await createClient({ url }).workspace.create({
    ownerEmail: 'bench@example.com',
  })
  const [apiKey] = Object.keys(workspace.apiKeyList) as [string]
  const owner = createClient({ url, workspaceId: workspace.id, workspaceAuthToken: workspace.authToken })
  const { data: keys } = await owner.authTokens.get({ apiKey })
  const client = createClient({ url, apiKey, authToken: keys.authTokens[0]?.token ?? '' })
  await client.organizations.add({ organizations: [{ organizationId: 'org', organizationName: 'Acme' }] })
  const tokens = Array.from({ length: users }, async (_, user) => {
    const { data } = await client.auth.generateToken({
      userId: `u${user}`,
      userProperties: { name: `User ${user}`, email: `u${user}@example.com` },
      permissions: { resources: [{ type: 'organization', id: 'org', accessRole: 'editor' }] },
    })
    return data.token
  })
  return { tokens: await Promise.all(tokens), roomOf: (name: string) => `org/${name}/text` }
}

const hocuspocusServer: Described = { script: './fan-out/peers/hocuspocus.mjs' }

export const relay: Contender = {
  name: 'ws relay',
  dialects: [yWebsocket],
  keeps: 'nowhere',
  start: () => run({ script: './fan-out/peers/relay.mjs', answersSync: false }, 'memory'),
}

export const contenders: readonly Contender[] = [
  relay,
  {
    name: '@hocuspocus/server',
    dialects: [hocuspocus],
    keeps: 'memory',
    start: () => run(hocuspocusServer, 'memory'),
  },
  {
    name: '@hocuspocus/server, SQLite',
    dialects: [hocuspocus],
    keeps: 'disk',
    start: () => run(hocuspocusServer, 'disk'),
  },
  {
    name: 'Plenum',
    dialects: [yWebsocket, hocuspocus],
    keeps: 'disk',
    start: () =>
      run({ script: '../packages/server/dist/main.js', execArgv: profile, prepare: preparePlenum }, 'disk'),
  },
]
