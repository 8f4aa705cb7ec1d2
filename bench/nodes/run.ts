import { arch, availableParallelism } from 'node:os'
import { type Load, updateCountOf } from '../fan-out/rooms.ts'
import { knownValues, readOptions, showHelp, wholeNumbers } from '../options.ts'
import { figure, median, percentile, printTable, progress } from '../report.ts'
import { type Cluster, type LinkName, startCluster, startServices, sum, type Usage } from './cluster.ts'
import { deliver, type Delivery } from './delivery.ts'

const help = `
Measures the CPU time of a live update with one server and with two servers on one PostgreSQL, for each way in which
servers reach each other. All documents are compared at the end of each load.

  npm run bench:nodes -- [options]

  --only documents,clients,foreign  what to measure
      documents  many documents with two clients each, one on each server
      clients    one document with many clients, half of them on each server
      foreign    all clients on the first server: what the second server pays for documents that it does not have open
  --rounds 3                        every round measures all clusters
  --quick                           one short round with fewer documents
  --help                            shows this text`

const { values: options } = readOptions({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
showHelp(options.help, help)
const { quick } = options
const [roundCount = 1] = wholeNumbers('--rounds', options.rounds ?? (quick ? '1' : '3'), 1, 100)
const chosen = knownValues('--only', options.only, ['documents', 'clients', 'foreign'])
const seconds = quick ? 2 : 6
/** A multiple of the 3 s in which servers compare what they have open with the database. */
const idleSeconds = quick ? 3 : 6
/** V8 compiles what runs often. Until then, an update takes twice as long. */
const warmUpSeconds = quick ? 3 : 12
/** To all documents together. Few enough that two cores are not busy with all servers, databases and clients on them. */
const updatesPerSecond = 400
const documentCounts = quick ? [100] : [10, 100, 1000]
const clientCounts = quick ? [20] : [10, 50, 200]
/** Of the document with many clients. */
const hotUpdatesPerSecond = 100

interface Case {
  title: string
  link: LinkName
  serverCount: number
}
const cases: readonly Case[] = [
  { title: 'one server', link: 'notify', serverCount: 1 },
  { title: 'two, NOTIFY', link: 'notify', serverCount: 2 },
  { title: 'two, Redis', link: 'redis', serverCount: 2 },
  { title: 'two, polling', link: 'polling', serverCount: 2 },
]

const loadOf = (documentCount: number, clientsPerDocument: number, updatesPerSecond: number): Load => ({
  name: `${documentCount} × ${clientsPerDocument}`,
  documentCount,
  clientsPerDocument,
  updatesPerSecond,
  seconds,
})
const spreadDocuments = (count: number) => loadOf(count, 2, updatesPerSecond / count)

/** The results of all rounds, by load and case. */
type Results = Map<Load, Map<Case, Delivery[]>>

async function measure(
  clusters: ReadonlyMap<Case, Cluster>,
  loads: readonly Load[],
  serverOf?: (client: number) => number,
): Promise<Results> {
  const results: Results = new Map(
    loads.map((load) => [load, new Map([...clusters.keys()].map((one) => [one, []]))]),
  )
  for (let round = 1; round <= roundCount; round++) {
    for (const load of loads) {
      for (const [one, cluster] of clusters) {
        progress(`round ${round} of ${roundCount}: ${load.name}, ${one.title}`)
        const delivery = await deliver(cluster, load, idleSeconds, serverOf)
        results.get(load)?.get(one)?.push(delivery)
      }
    }
  }
  return results
}

const medianOf = (found: readonly Delivery[], value: (delivery: Delivery) => number) =>
  median(found.map(value))
const percentOfCore = (micros: number, { seconds }: Usage) => micros / seconds / 10_000

function printDeliveries(title: string, results: Results): void {
  const rows = [...results].flatMap(([load, byCase]) => {
    const delivered = updateCountOf(load) * (load.clientsPerDocument - 1)
    const serversOf = ({ used }: Delivery) => sum(used.servers) / delivered
    const alone = [...byCase].find(([{ serverCount }]) => serverCount === 1)?.[1] ?? []
    return [...byCase].map(([one, found]) => {
      const latencies = found.flatMap((delivery) => delivery.delivered)
      return [
        load.name,
        one.title,
        figure(medianOf(found, serversOf)),
        figure(
          median(found.map((delivery, round) => serversOf(delivery) / serversOf(alone[round] ?? delivery))),
        ),
        figure(medianOf(found, ({ used }) => used.postgres / delivered)),
        one.link === 'redis' ? figure(medianOf(found, ({ used }) => used.redis / delivered)) : '–',
        `${figure(percentile(latencies, 0.5))} / ${figure(percentile(latencies, 0.99))}`,
        figure(medianOf(found, ({ idle }) => percentOfCore(sum(idle.servers), idle))),
        figure(medianOf(found, ({ idle }) => percentOfCore(idle.postgres, idle))),
      ]
    })
  })
  printTable(
    title,
    [
      'documents × clients',
      'servers',
      'servers: µs',
      '× one server',
      'PostgreSQL: µs',
      'Redis: µs',
      'delivered after ms, p50 / p99',
      'idle servers: % of a core',
      'idle PostgreSQL: %',
    ],
    rows,
  )
}

function printForeign(results: Results): void {
  const rows = [...results].flatMap(([load, byCase]) => {
    const updates = updateCountOf(load)
    const perUpdate = (server: number) => (delivery: Delivery) =>
      (delivery.used.servers[server] ?? 0) / updates
    return [...byCase].map(([one, found]) => {
      const [own, foreign] = [medianOf(found, perUpdate(0)), medianOf(found, perUpdate(1))]
      const idle = medianOf(found, ({ idle }) => percentOfCore(idle.servers[1] ?? 0, idle))
      const added = medianOf(found, ({ used }) => percentOfCore(used.servers[1] ?? 0, used))
      return [
        load.name,
        one.title,
        figure(own),
        figure(foreign),
        `${figure((100 * foreign) / (own + foreign))} %`,
        figure(idle),
        figure(idle + added),
      ]
    })
  })
  printTable(
    'Documents that a server has no client for, CPU µs per update',
    [
      'documents × clients',
      'servers',
      'server with the clients: µs',
      'other server: µs',
      'share',
      'other server, idle: % of a core',
      'during the load: %',
    ],
    rows,
  )
}

console.log(
  `Node ${process.versions.node}, ${availableParallelism()} ${arch()} cores, rounds: ${roundCount}, seconds of each load: ${seconds}`,
)
const services = await startServices()
const clusters = new Map<Case, Cluster>()
for (const one of cases) {
  progress(`starting: ${one.title}`)
  const cluster = await startCluster(services, one.link, one.serverCount)
  clusters.set(one, cluster)
  await deliver(cluster, { ...spreadDocuments(20), seconds: warmUpSeconds }, 0)
}
if (chosen.includes('documents')) {
  const results = await measure(clusters, documentCounts.map(spreadDocuments))
  printDeliveries(
    `Documents with two clients, ${updatesPerSecond} updates/s in all, CPU µs per delivered update`,
    results,
  )
}
if (chosen.includes('clients')) {
  const loads = clientCounts.map((count) => loadOf(1, count, hotUpdatesPerSecond))
  printDeliveries(
    `One document, ${hotUpdatesPerSecond} updates/s, CPU µs per delivered update`,
    await measure(clusters, loads),
  )
}
if (chosen.includes('foreign')) {
  const pairs = new Map([...clusters].filter(([{ serverCount }]) => serverCount > 1))
  printForeign(await measure(pairs, documentCounts.map(spreadDocuments), () => 0))
}
for (const cluster of clusters.values()) await cluster.stop()
await services.stop()
