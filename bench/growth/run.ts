import { cpuMicrosecondsOf } from '../process.ts'
import { availableParallelism, arch } from 'node:os'
import { type PostgresService, startPostgres } from '../../packages/server/test/support/services/postgres.ts'
import { knownValues, readOptions, showHelp, wholeNumbers } from '../options.ts'
import { postgresTimes, timeBetween } from '../postgres-times.ts'
import { figure, median, printTable, progress } from '../report.ts'
import type { Case, Kind } from './case.ts'
import { updates, versions } from './editors.ts'
import { documents, notifications, organizations, users } from './lists.ts'
import { maxRows } from './rows.ts'
import { printStops } from './stops.ts'
import { countOf, startTarget, type Target } from './target.ts'

const help = `
Measures how the cost of a request grows with the number of organizations, documents, users and notifications of a
tenant, and of updates and versions of an editor: the CPU time of the server (on PostgreSQL also of the database) and
the time that the request took (p50). Then measures for how long large operations delay the requests of others.

  npm run bench:growth -- [options]

  --sizes 100,10000,1000000   numbers of rows to compare, the smallest first
  --database sqlite,postgres  databases to measure
  --only documents,stops      what to measure: organizations, documents, users, notifications, updates, versions, stops
  --rounds 8                  every round measures every case at every size
  --requests 100              requests per case in each round; slow cases send fewer
  --stop-size 100000          rows in each organization that is read and deleted for "stops"
  --help                      shows this text

Each size has a server and a database of its own. Databases are deleted at the end. Sizes of 1,000,000 need 6 GB in the
folder for temporary files (TMPDIR).`

const { values: options } = readOptions({
  options: {
    sizes: { type: 'string', default: '100,10000,1000000' },
    database: { type: 'string' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '8' },
    requests: { type: 'string', default: '100' },
    'stop-size': { type: 'string', default: '100000' },
    help: { type: 'boolean', default: false },
  },
})
showHelp(options.help, help)

const kinds: readonly Kind[] = [organizations, documents, users, notifications, updates, versions]
const sizes = wholeNumbers('--sizes', options.sizes, 100, maxRows)
const databases = knownValues('--database', options.database, ['sqlite', 'postgres'])
const chosen = knownValues('--only', options.only, [...kinds.map(({ name }) => name), 'stops'])
const chosenKinds = kinds.filter(({ name }) => chosen.includes(name))
const [roundCount = 1] = wholeNumbers('--rounds', options.rounds, 1, 1000)
const [requestsPerRound = 1] = wholeNumbers('--requests', options.requests, 1, 1_000_000)
const [stopSize = 1] = wholeNumbers('--stop-size', options['stop-size'], 100, maxRows)

/** In the first warm-up round, each case sends this many requests, to learn how long one takes. */
const firstRequests = 3
const warmUpRounds = 2
/** A case sends as many requests in a round as take this long, but at least one. */
const maxCaseMs = 400

interface Sample {
  serverMicros: number
  databaseMicros: number
  latencies: number[]
}

/** What was measured for one case at one size. */
interface Measured {
  one: Case
  target: Target
  requestCount: number
  samples: Sample[]
}

async function measureOnce(measured: Measured, postgres: PostgresService | undefined): Promise<Sample> {
  const { one, target, requestCount } = measured
  await one.before?.(requestCount)
  const databaseBefore = postgres && postgresTimes(postgres)
  const serverBefore = cpuMicrosecondsOf(target.server.pid)
  const { latencies, failures } = await one.run(requestCount)
  const serverMicros = (cpuMicrosecondsOf(target.server.pid) - serverBefore) / requestCount
  const databaseMicros =
    postgres && databaseBefore ? timeBetween(databaseBefore, postgresTimes(postgres)) / requestCount : 0
  if (failures.length > 0) throw new Error(`${one.title}: ${failures.length} requests failed: ${failures[0]}`)
  return { serverMicros, databaseMicros, latencies }
}

async function measureKinds(postgres: PostgresService | undefined, database: string): Promise<void> {
  const targets: Target[] = []
  for (const size of sizes) targets.push(await startTarget(chosenKinds, size, postgres))
  const rows = chosenKinds.flatMap((kind) =>
    (targets[0]?.cases.get(kind.name) ?? []).map((_, index) => ({
      kind,
      bySize: targets.map((target): Measured => {
        const one = target.cases.get(kind.name)?.[index] as Case
        return { one, target, requestCount: firstRequests, samples: [] }
      }),
    })),
  )
  // Every round measures all sizes, so that a slow moment of the machine slows all of them.
  for (let round = 1 - warmUpRounds; round <= roundCount; round++) {
    progress(`${database}: round ${round} of ${roundCount}`)
    for (const { bySize } of rows) {
      for (const measured of bySize) {
        const sample = await measureOnce(measured, postgres)
        if (round > 0) measured.samples.push(sample)
        const { maxRequests = requestsPerRound } = measured.one
        const affordable = Math.floor(maxCaseMs / median(sample.latencies))
        measured.requestCount = Math.max(1, Math.min(maxRequests, requestsPerRound, affordable))
      }
    }
  }
  for (const target of targets) await target.stop()

  for (const kind of chosenKinds) {
    const ofKind = rows.filter((row) => row.kind === kind)
    const counts = sizes.map((size) => countOf(kind, size).toLocaleString('en'))
    printTable(
      `${kind.name}, ${database}`,
      [
        '',
        ...counts.map((count) => `${count}: CPU µs`),
        '×',
        ...counts.map((count) => `${count}: p50 ms`),
        '×',
      ],
      ofKind.map(({ bySize }) => [
        bySize[0]?.one.title ?? '',
        ...bySize.map(({ samples }) => cpuText(samples)),
        growth(bySize.map(({ samples }) => cpuOf(samples))),
        ...bySize.map(({ samples }) => figure(latencyOf(samples))),
        growth(bySize.map(({ samples }) => latencyOf(samples))),
      ]),
    )
  }
}

const serverOf = (samples: Sample[]) => median(samples.map(({ serverMicros }) => serverMicros))
const databaseOf = (samples: Sample[]) => median(samples.map(({ databaseMicros }) => databaseMicros))
const cpuOf = (samples: Sample[]) => serverOf(samples) + databaseOf(samples)
const cpuText = (samples: Sample[]) =>
  [serverOf(samples), databaseOf(samples)]
    .filter((micros) => micros > 0)
    .map((micros) => micros.toFixed(0))
    .join(' + ')
const latencyOf = (samples: Sample[]) => median(samples.flatMap(({ latencies }) => latencies))
/** The cost at the largest size divided by the cost at the smallest. */
const growth = (costs: number[]) => figure((costs.at(-1) ?? 0) / (costs[0] ?? 1))

const names = { sqlite: 'SQLite', postgres: 'PostgreSQL' }
console.log(`Node ${process.versions.node}, ${availableParallelism()} ${arch()} cores, rounds: ${roundCount}`)
for (const database of databases) {
  const postgres = database === 'postgres' ? await startPostgres({ durable: true }) : undefined
  const title = postgres ? `${names[database]}, CPU of the server + of the database` : names[database]
  if (chosenKinds.length > 0) await measureKinds(postgres, title)
  if (chosen.includes('stops')) await printStops(postgres, names[database], stopSize)
  await postgres?.stop()
}
