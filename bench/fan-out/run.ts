/**
 * Live updates compared with other servers, all of them in every round.
 *   npm run bench:fan-out -- [--quick] [--rounds N] [--only hot,many,memory,opening] [--contenders plenum,relay]
 * Times vary on a shared machine. Compare the ratios of CPU times.
 */
import { arch, availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { type Contender, contenders as all, relay, type Running } from './contenders.ts'
import type { Dialect } from './dialects.ts'
import { fanOut, type Load, type FanOutResult } from './fan-out.ts'
import { memoryPerConnection } from './memory.ts'
import { type Opened, openings } from './opening.ts'
import { figure, median, percentile, printTable, progress } from './report.ts'
import { edited, pasted } from './typing.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string', default: 'hot,many,memory,opening' },
    contenders: { type: 'string', default: '' },
  },
})
const rounds = Number(options.rounds ?? (options.quick ? 1 : 5))
const seconds = options.quick ? 2 : 6
const label = (contender: Contender, dialect: Dialect) => `${contender.name} (${dialect.name})`
const wanted = options.contenders.toLowerCase().split(',')
const entries = all
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
      documents: 1,
      clients: 50,
      perSecond: 500,
      seconds,
    }),
  many: () =>
    measureFanOut({
      name: '100 documents × 2 clients × 20/s',
      documents: 100,
      clients: 2,
      perSecond: 20,
      seconds,
    }),
  memory: measureMemory,
  opening: measureOpening,
}
const machine = `${availableParallelism()} ${arch()} cores`
console.log(`Node ${process.versions.node}, ${machine}, rounds: ${rounds}, seconds of each load: ${seconds}`)
for (const part of options.only.split(',')) {
  const measure = parts[part]
  if (!measure) throw new Error(`--only accepts ${Object.keys(parts).join(', ')}, but is "${part}".`)
  await measure()
}

async function measureFanOut(load: Load): Promise<void> {
  const running = new Map<Contender, Running>()
  for (const contender of contenders) running.set(contender, await contender.start())
  const results = new Map<string, FanOutResult[]>(entries.map((entry) => [label(...entry), []]))
  /** CPU time in relation to the relay's in the same round, so that a slow moment of the machine slows both. */
  const ratios = new Map<string, number[]>(entries.map((entry) => [label(...entry), []]))
  // Round 0 warms up.
  for (let round = 0; round <= rounds; round++) {
    let relayMicroseconds = Number.NaN
    for (const [contender, dialect] of entries) {
      progress(`${load.name}, round ${round} of ${rounds}: ${label(contender, dialect)}`)
      const result = await fanOut(running.get(contender) as Running, dialect, load)
      if (contender === relay) relayMicroseconds = result.cpuMicroseconds
      if (round === 0) continue
      results.get(label(contender, dialect))?.push(result)
      ratios.get(label(contender, dialect))?.push(result.cpuMicroseconds / relayMicroseconds)
    }
  }
  for (const one of running.values()) await one.stop()
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
      figure(median(found.map((result) => result.framesPerDelivered))),
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
  const connections = options.quick ? 500 : 2000
  const found = new Map<string, number[]>(entries.map((entry) => [label(...entry), []]))
  for (let round = 1; round <= Math.min(rounds, 3); round++) {
    for (const [contender, dialect] of entries) {
      progress(`${connections} idle connections, round ${round}: ${label(contender, dialect)}`)
      found.get(label(contender, dialect))?.push(await memoryPerConnection(contender, dialect, connections))
    }
  }
  printTable(
    `${connections} idle connections, after as many others, 10 per document`,
    ['server (dialect)', 'KB per connection'],
    [...found].map(([name, kilobytes]) => [name, figure(median(kilobytes))]),
  )
}

async function measureOpening(): Promise<void> {
  const [characters, changes] = options.quick ? [131_072, 5000] : [1_048_576, 100_000]
  const copies = options.quick ? 1 : 3
  const documents: [string, Uint8Array[]][] = [
    [`A document of ${characters / 1024} KB`, pasted(characters)],
    [`A document of ${changes} updates`, edited(changes)],
  ]
  const cells = (opened: Opened[]) => [
    figure(median(opened.map(({ milliseconds }) => milliseconds))),
    figure(median(opened.map(({ cpuMilliseconds }) => cpuMilliseconds))),
  ]
  for (const [title, updates] of documents) {
    const rows: string[][] = []
    for (const contender of contenders.filter(({ keeps }) => keeps !== 'nowhere')) {
      progress(`${title}: ${contender.name}`)
      for (const { dialect, warm, cold } of await openings(contender, updates, copies, 5)) {
        const kilobytes = figure(median(warm.map((opened) => opened.kilobytes)))
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
