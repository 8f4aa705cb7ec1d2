/**
 * Measures the CPU time per request of the hot paths, compared with a bare Fastify echo in the same run.
 *   node --conditions=plenum-source --import tsx bench/rest.ts [requests per round] [rounds]
 * Times vary on a shared machine. Compare the ratios of CPU times.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../packages/client/src/index.ts'
import { type Load, sendRequests } from './load.ts'
import { type MeasuredProcess, startMeasuredProcess } from './process.ts'

const requestsPerRound = Number(process.argv[2] ?? 4000)
const roundCount = Number(process.argv[3] ?? 25)
const connectionCount = 32

const dataDir = mkdtempSync(join(tmpdir(), 'plenum-bench-'))
const echo = await startMeasuredProcess('./echo.mjs', {})
const profile = process.env.PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE}`] : []
const server = await startMeasuredProcess(
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

/** `share` is the part of `requestsPerRound` that the case sends. */
type Case = [name: string, target: MeasuredProcess, path: string, body: Load['body'], share: number]
const cases: Case[] = [
  ['Fastify echo', echo, '/echo', () => read, 1],
  ['Get Organizations by id', server, '/v2/organizations/get', () => read, 1],
  ['Update Users, one user, durable', server, '/v1/users/update', write, 0.5],
  ['Generate Token', server, '/v2/auth/generate_token', () => token, 0.25],
]
const samples = new Map<string, { micros: number; ratio: number }[]>(cases.map(([name]) => [name, []]))

// Each round measures all cases, so that a slow moment of the machine slows the echo as well.
const warmUpRounds = 4
for (let round = -warmUpRounds; round < roundCount; round++) {
  let echoMicros = 1
  for (const [name, target, path, bodyOf, share] of cases) {
    const requestCount = Math.round(requestsPerRound * share)
    const cpuBefore = target.cpuMicroseconds()
    await sendRequests({ port: target.port, path, headers, body: bodyOf, connectionCount, requestCount })
    const micros = (target.cpuMicroseconds() - cpuBefore) / requestCount
    if (target === echo) echoMicros = micros
    if (round >= 0) samples.get(name)?.push({ micros, ratio: micros / echoMicros })
  }
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
for (const [name, samplesOfCase] of samples) {
  const micros = samplesOfCase.map((sample) => sample.micros)
  const ratio = median(samplesOfCase.map((sample) => sample.ratio)).toFixed(2)
  console.log(
    `${name.padEnd(34)} ${Math.min(...micros)
      .toFixed(1)
      .padStart(7)} µs CPU at best, ${median(micros).toFixed(1).padStart(7)} median, ${ratio}× echo`,
  )
}
await server.stop()
await echo.stop()
rmSync(dataDir, { recursive: true, force: true })
