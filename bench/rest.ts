/**
 * Measures the CPU time per request of the hot paths on SQLite and on PostgreSQL, compared with a bare Fastify echo in the
 * same run. Starts its own PostgreSQL.
 *   npm run bench -- [--requests 4000] [--rounds 25] [--database sqlite|postgres] [--only token,crdt]
 * Times vary on a shared machine. Compare the ratios of CPU times.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerProcess } from '../packages/server/test/support/processes/server-process.ts'
import { createTenant } from '../attack/tenant.ts'
import { startPostgres } from '../packages/server/test/support/services/postgres.ts'
import { body, type Case } from './case.ts'
import { commentCases, createTeam, teamToken } from './comment-cases.ts'
import { type Load, sendRequests } from './load.ts'
import { knownValues, readOptions } from './options.ts'
import { cpuMicrosecondsOf, startMeasuredServer } from './process.ts'
import { median, percentile } from './report.ts'

const { values: options } = readOptions({
  options: {
    requests: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '25' },
    database: { type: 'string' },
    only: { type: 'string' },
  },
})
const requestsPerRound = Number(options.requests)
const roundCount = Number(options.rounds)
const connectionCount = 32
const warmUpRounds = 4

const document = { organizationId: 'org', documentId: 'doc' }
const read = body({ organizationIds: ['org'] })
const token = body({
  userId: 'u1',
  userProperties: { name: 'Ada', email: 'ada@example.com' },
  permissions: { resources: [{ type: 'organization', id: 'org', accessRole: 'editor' }] },
})
const user = (name: string, userId = 'u1') =>
  body({ organizationId: 'org', users: [{ userId, name, email: 'ada@example.com' }] })
const crdt = body({ ...document, editorId: 'note' })
const broadcast = (n: number, documentId = 'doc') =>
  JSON.stringify({ organizationId: 'org', documentId, liveStateDataId: 'slide', data: { page: n } })

const cases: Case[] = [
  {
    name: 'read',
    title: 'Get Organizations by id',
    path: '/v2/organizations/get',
    body: () => read,
    share: 1,
  },
  {
    name: 'write',
    title: 'Update Users, one user',
    path: '/v1/users/update',
    body: (n) => user(`Ada ${n}`),
    share: 0.5,
  },
  {
    name: 'writes',
    title: 'Update Users, 100 users',
    path: '/v1/users/update',
    body: (n) => user(`Ada ${n}`, `u${n % 100}`),
    share: 0.5,
  },
  {
    name: 'broadcast',
    title: 'Broadcast Event, one document',
    path: '/v2/livestate/broadcast',
    body: (n) => broadcast(n),
    share: 0.5,
  },
  {
    name: 'broadcasts',
    title: 'Broadcast Event, 100 documents',
    path: '/v2/livestate/broadcast',
    body: (n) => broadcast(n, `doc${n % 100}`),
    share: 0.5,
  },
  { name: 'token', title: 'Generate Token', path: '/v2/auth/generate_token', body: () => token, share: 0.25 },
  { name: 'crdt', title: 'Get CRDT Data, small editor', path: '/v2/crdt/get', body: () => crdt, share: 0.5 },
  {
    name: 'edit',
    title: 'Update CRDT Data, one editor',
    path: '/v2/crdt/update',
    body: (n) => body({ ...document, editorId: 'edited', type: 'text', data: `Line ${n} `.repeat(200) }),
    share: 0.25,
    prepare: async (client) => {
      await client.crdt.add({ ...document, editorId: 'edited', type: 'text', data: '' })
    },
  },
  ...commentCases,
]
const databases = ['sqlite', 'postgres']
const names = cases.map(({ name }) => name)
const chosenNames = knownValues('--only', options.only, names)
const chosen = cases.filter(({ name }) => chosenNames.includes(name))
const chosenDatabases = knownValues('--database', options.database, databases)

/** A started server, with the headers of an API key that has organizations, users and documents, and of one of these users. */
interface Target {
  server: ServerProcess
  headers: Record<'backend' | 'user', Record<string, string>>
}

const requestCountOf = ({ share }: Case) => Math.ceil(requestsPerRound * share)

async function startTarget(env: Record<string, string>): Promise<Target> {
  const profile = process.env.PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE}`] : []
  const server = await startMeasuredServer('../packages/server/dist/main.js', env, profile)
  const { client, headers } = await createTenant(`http://127.0.0.1:${server.port}`, 'bench@example.com')
  await client.organizations.add({ organizations: [{ organizationId: 'org', organizationName: 'Acme' }] })
  const users = Array.from({ length: 100 }, (_, i) => ({
    userId: `u${i}`,
    name: 'Ada',
    email: 'a@example.com',
  }))
  await client.users.add({ organizationId: 'org', users })
  await client.crdt.add({ ...document, editorId: 'note', type: 'text', data: 'A short note.' })
  for (let i = 0; i < 100; i++) {
    await client.liveState.broadcast({
      organizationId: 'org',
      documentId: `doc${i}`,
      liveStateDataId: 'slide',
      data: { page: 0 },
    })
  }
  await createTeam(client)
  for (const one of chosen) {
    await one.prepare?.(client, requestCountOf(one) * (warmUpRounds + roundCount))
  }
  const user = { authorization: `Bearer ${await teamToken(client)}` }
  return { server, headers: { backend: headers, user } }
}

const dataDir = mkdtempSync(join(tmpdir(), 'plenum-bench-'))
const usesSqlite = chosenDatabases.includes('sqlite')
const postgres = chosenDatabases.includes('postgres') ? await startPostgres({ durable: true }) : undefined
const echo = await startMeasuredServer('./echo.mjs', {})
const targets = new Map<string, Target>()
if (usesSqlite) targets.set('SQLite', await startTarget({ DATA_DIR: dataDir, DATABASE_URL: '' }))
if (postgres) {
  const env = { DATABASE_URL: await postgres.createDatabase(), SECRET_KEY: 'x'.repeat(32) }
  targets.set('PostgreSQL', await startTarget(env))
}

interface Sample {
  micros: number
  ratio: number
  latencies: number[]
  failures: string[]
}
const samples = new Map<string, Sample[]>()
async function measure(
  key: string,
  server: ServerProcess,
  load: Omit<Load, 'port' | 'connectionCount'>,
  startsJobs = false,
) {
  const cpuBefore = cpuMicrosecondsOf(server.pid)
  const result = await sendRequests({ ...load, port: server.port, connectionCount })
  if (startsJobs) await untilIdle(server)
  const micros = (cpuMicrosecondsOf(server.pid) - cpuBefore) / load.requestCount
  return { key, micros, ...result }
}

/** Waits until the server uses less than 2 % of a core. */
async function untilIdle(server: ServerProcess): Promise<void> {
  const windowMs = 100
  for (let used = Infinity; used > windowMs * 20;) {
    const before = cpuMicrosecondsOf(server.pid)
    await new Promise((resolve) => setTimeout(resolve, windowMs))
    used = cpuMicrosecondsOf(server.pid) - before
  }
}

// Each round measures all cases, so that a slow moment of the machine slows the echo as well.
for (let round = -warmUpRounds; round < roundCount; round++) {
  process.stderr.write(`\rround ${round + 1} of ${roundCount} `)
  const results = [
    await measure('Fastify echo', echo, {
      path: '/echo',
      headers: {},
      body: () => read,
      requestCount: requestsPerRound,
    }),
  ]
  for (const one of chosen) {
    const { title, path, body, caller = 'backend', startsJobs } = one
    for (const [database, { server, headers }] of targets) {
      const load = { path, headers: headers[caller], body, requestCount: requestCountOf(one) }
      results.push(await measure(`${title} | ${database}`, server, load, startsJobs))
    }
  }
  const echoMicros = results[0]?.micros ?? 1
  if (round < 0) continue
  for (const { key, ...result } of results) {
    const known = samples.get(key) ?? []
    samples.set(key, [...known, { ...result, ratio: result.micros / echoMicros }])
  }
}
process.stderr.write('\r')

console.log('| | database | CPU µs/request: best, median | × echo | p50 ms | p99 ms | failed |')
console.log('|---|---|---|---|---|---|---|')
for (const [key, ofCase] of samples) {
  const [title, database = ''] = key.split(' | ')
  const micros = ofCase.map((sample) => sample.micros)
  const latencies = ofCase.flatMap((sample) => sample.latencies)
  const failures = ofCase.flatMap((sample) => sample.failures)
  const cells = [
    title,
    database,
    `${Math.min(...micros).toFixed(0)}, ${median(micros).toFixed(0)}`,
    median(ofCase.map((sample) => sample.ratio)).toFixed(2),
    percentile(latencies, 0.5).toFixed(1),
    percentile(latencies, 0.99).toFixed(1),
    failures.length === 0 ? '0' : `${failures.length} (${[...new Set(failures)].join('; ')})`,
  ]
  console.log(`| ${cells.join(' | ')} |`)
}
for (const { server } of targets.values()) await server.terminate()
await echo.terminate()
await postgres?.stop()
rmSync(dataDir, { recursive: true, force: true })
