/**
 * CPU time per request of the hot paths, beside a bare Fastify echo in the same run.
 *   node --conditions=source --import tsx bench/rest.ts [requests per round] [rounds]
 * Times differ on a shared machine; the ratio of CPU times is what to compare.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../packages/client/src/index.ts'
import { drive, type Load } from './load.ts'
import { measuredProcess, type Measured } from './process.ts'

const requests = Number(process.argv[2] ?? 20_000)
const rounds = Number(process.argv[3] ?? 5)
const connections = 32

const dataDir = mkdtempSync(join(tmpdir(), 'plenum-bench-'))
const echo = await measuredProcess('./echo.mjs', {})
const profile = process.env.PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE}`] : []
const server = await measuredProcess(
  '../packages/server/dist/main.js',
  {
    DATA_DIR: dataDir,
    ...(process.env.BENCH_DATABASE_URL && {
      DATABASE_URL: process.env.BENCH_DATABASE_URL,
      SECRET_KEY: 'x'.repeat(32),
    }),
  },
  profile,
)

const url = `http://127.0.0.1:${server.port}`
const { data: workspace } = await createClient({ url }).workspace.create({ ownerEmail: 'bench@example.com' })
const [apiKey] = Object.keys(workspace.apiKeyList) as [string]
const owner = createClient({ url, workspaceId: workspace.id, workspaceAuthToken: workspace.authToken })
const { data: tokens } = await owner.authTokens.get({ apiKey })
const authToken = tokens.authTokens[0]?.token ?? ''
const client = createClient({ url, apiKey, authToken })
await client.organizations.add({ organizations: [{ organizationId: 'org', organizationName: 'Acme' }] })
await client.users.add({
  organizationId: 'org',
  users: [{ userId: 'u1', name: 'Ada', email: 'ada@example.com' }],
})

const headers = { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken }
const body = (data: object) => JSON.stringify({ data })
const read = body({ organizationIds: ['org'] })
const token = body({
  userId: 'u1',
  userProperties: { name: 'Ada', email: 'ada@example.com' },
  permissions: { resources: [{ type: 'organization', id: 'org', accessRole: 'editor' }] },
})
const write = (request: number) =>
  body({ organizationId: 'org', users: [{ userId: 'u1', name: `Ada ${request}`, email: 'ada@example.com' }] })

type Case = [name: string, on: Measured, path: string, body: Load['body'], share: number]
const cases: Case[] = [
  ['Fastify echo', echo, '/echo', () => read, 1],
  ['Get Organizations by id', server, '/v2/organizations/get', () => read, 1],
  ['Update Users, one user, durable', server, '/v1/users/update', write, 0.5],
  ['Generate Token', server, '/v2/auth/generate_token', () => token, 0.25],
]
const best = new Map<string, number>()

for (let round = 0; round <= rounds; round++) {
  for (const [name, on, path, bodyOf, share] of cases) {
    const count = Math.round(requests * share)
    const began = on.cpuMicroseconds()
    await drive({ port: on.port, path, headers, body: bodyOf, connections, requests: count })
    const micros = (on.cpuMicroseconds() - began) / count
    // The first round warms up.
    if (round > 0) best.set(name, Math.min(best.get(name) ?? Infinity, micros))
  }
}

const floor = best.get('Fastify echo') ?? 1
for (const [name, micros] of best) {
  console.log(
    `${name.padEnd(34)} ${micros.toFixed(1).padStart(7)} µs CPU/request  ${(micros / floor).toFixed(2)}× echo`,
  )
}
await server.stop()
await echo.stop()
rmSync(dataDir, { recursive: true, force: true })
