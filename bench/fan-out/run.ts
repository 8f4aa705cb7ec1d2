/**
 * Measures live updates, compared with other servers. Every round measures all servers.
 *   npm run bench:fan-out -- [--quick] [--rounds N] [--only hot,many,memory,opening] [--contenders plenum,relay]
 * Times vary on a shared machine. Compare the ratios of CPU times.
 */
import { arch, availableParallelism } from 'node:os'
import { type Contender, contenders as allContenders, relay, type RunningServer } from './contenders.ts'
import type { Dialect } from './dialects.ts'
import { fanOut, type FanOutResult } from './fan-out.ts'
import { type IdleCost, idleCost } from './memory.ts'
import { type OpeningCost, timeOpenings } from './opening.ts'
import { figure, median, percentile, printTable, progress } from '../report.ts'
import type { Load } from './rooms.ts'
import { editUpdates, pasteUpdates } from './typing.ts'
import { readOptions } from '../options.ts'

const { values: options } = readOptions({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string', default: 'hot,many,memory,opening' },
    contenders: { type: 'string', default: '' },
  },
})
const roundCount = Number(options.rounds ?? (options.quick ? 1 : 5))
const seconds = options.quick ? 2 : 6
const label = (contender: Contender, dialect: Dialect) => `${contender.name} (${dialect.name})`
const wanted = options.contenders.toLowerCase().split(',')
const entries = allContenders
  .flatMap((contender) => contender.dialects.map((dialect): [Contender, Dialect] => [contender, dialect]))
  .filter((entry) =>
    wanted.some((part) =>
      label(...entry)
        .toLowerCase()
        .includes(part),
    ),
  )
const contenders = [...new Set(entries.map(([contender]) => contender))]

const parts: Record<string, () => Promise<void>> = {
  hot: () =>
    measureFanOut({
      name: '1 document × 50 clients × 500/s',
      documentCount: 1,
      clientsPerDocument: 50,
      updatesPerSecond: 500,
      seconds,
    }),
  many: () =>
    measureFanOut({
      name: '100 documents × 2 clients × 20/s',
      documentCount: 100,
      clientsPerDocument: 2,
      updatesPerSecond: 20,
      seconds,
    }),
  memory: measureMemory,
  opening: measureOpening,
}
const machine = `${availableParallelism()} ${arch()} cores`
console.log(
  `Node ${process.versions.node}, ${machine}, rounds: ${roundCount}, seconds of each load: ${seconds}`,
)
for (const part of options.only.split(',')) {
  const measure = parts[part]
  if (!measure) throw new Error(`--only accepts ${Object.keys(parts).join(', ')}, but is "${part}".`)
  await measure()
}

async function measureFanOut(load: Load): Promise<void> {
  const running = new Map<Contender, RunningServer>()
  for (const contender of contenders) running.set(contender, await contender.start())
  const results = new Map<string, FanOutResult[]>(entries.map((entry) => [label(...entry), []]))
  /** CPU time in relation to the relay's in the same round, so that a slow moment of the machine slows both. */
  const ratios = new Map<string, number[]>(entries.map((entry) => [label(...entry), []]))
  // Round 0 warms up.
  for (let round = 0; round <= roundCount; round++) {
    let relayMicroseconds = Number.NaN
    for (const [contender, dialect] of entries) {
      progress(`${load.name}, round ${round} of ${roundCount}: ${label(contender, dialect)}`)
      const result = await fanOut(running.get(contender) as RunningServer, dialect, load)
      if (contender === relay) relayMicroseconds = result.cpuMicroseconds
      if (round === 0) continue
      results.get(label(contender, dialect))?.push(result)
      ratios.get(label(contender, dialect))?.push(result.cpuMicroseconds / relayMicroseconds)
    }
  }
  for (const server of running.values()) await server.stop()
  printFanOut(load, results, ratios)
}

function printFanOut(load: Load, results: Map<string, FanOutResult[]>, ratios: Map<string, number[]>): void {
  const spread = (values: number[]) => `${figure(Math.min(...values))}–${figure(Math.max(...values))}`
  const times = (values: number[]) =>
    [0.5, 0.99, 1].map((share) => figure(percentile(values, share))).join(' / ')
  const rows = [...results].map(([name, found]) => {
    const cpu = found.map((result) => result.cpuMicroseconds)
    return [
      name,
      figure(median(cpu)),
      spread(cpu),
      figure(median(ratios.get(name) ?? [])),
      figure(median(found.map((result) => result.framesPerDeliveredUpdate))),
      times(found.flatMap((result) => result.latencies.saved)),
      times(found.flatMap((result) => result.latencies.delivered)),
    ]
  })
  printTable(
    load.name,
    [
      'server (dialect)',
      'CPU µs per delivered update',
      'min–max',
      '× relay',
      'frames per delivered update',
      'saved after ms, p50 / p99 / max',
      'delivered after ms, p50 / p99 / max',
    ],
    rows,
  )
}

async function measureMemory(): Promise<void> {
  const connectionCount = options.quick ? 1000 : 10_000
  // Plenum pings every connection once in 20 s.
  const idleSeconds = options.quick ? 20 : 40
  const costs = new Map<string, IdleCost[]>(entries.map((entry) => [label(...entry), []]))
  for (let round = 1; round <= Math.min(roundCount, 3); round++) {
    for (const [contender, dialect] of entries) {
      progress(`${connectionCount} idle connections, round ${round}: ${label(contender, dialect)}`)
      const cost = await idleCost(contender, dialect, connectionCount, idleSeconds)
      costs.get(label(contender, dialect))?.push(cost)
    }
  }
  printTable(
    `${connectionCount} idle connections, 10 per document`,
    ['server (dialect)', 'KB per connection', 'CPU, percent of a core'],
    [...costs].map(([name, found]) => [
      name,
      figure(median(found.map(({ kilobytes }) => kilobytes))),
      figure(median(found.map(({ cpuPercent }) => cpuPercent))),
    ]),
  )
}

async function measureOpening(): Promise<void> {
  const [characterCount, updateCount] = options.quick ? [131_072, 5000] : [1_048_576, 100_000]
  const copyCount = options.quick ? 1 : 3
  const documents: [string, Uint8Array[]][] = [
    [`A document of ${characterCount / 1024} KB`, pasteUpdates(characterCount)],
    [`A document of ${updateCount} updates`, editUpdates(updateCount)],
  ]
  const cells = (costs: OpeningCost[]) => [
    figure(median(costs.map(({ milliseconds }) => milliseconds))),
    figure(median(costs.map(({ cpuMilliseconds }) => cpuMilliseconds))),
  ]
  for (const [title, updates] of documents) {
    const rows: string[][] = []
    for (const contender of contenders.filter(({ keeps }) => keeps !== 'nowhere')) {
      progress(`${title}: ${contender.name}`)
      for (const { dialect, warm, cold } of await timeOpenings(contender, updates, copyCount, 5)) {
        const kilobytes = figure(median(warm.map((cost) => cost.kilobytes)))
        rows.push([label(contender, dialect), ...cells(warm), ...cells(cold), kilobytes])
      }
    }
    printTable(
      title,
      ['server (dialect)', 'open: ms', 'CPU ms', 'first open after a start: ms', 'CPU ms', 'KB received'],
      rows,
    )
  }
}
