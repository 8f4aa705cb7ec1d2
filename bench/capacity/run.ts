import { readFileSync, writeFileSync } from 'node:fs'
import { arch, availableParallelism } from 'node:os'
import { startCluster, startServices } from '../nodes/cluster.ts'
import { knownValues, numberUpTo, readOptions, showHelp, wholeNumbers } from '../options.ts'
import { figure, median, printTable, progress } from '../report.ts'
import type { Observation } from './fit.ts'
import type { LinkName } from './link-cost.ts'
import { type Effort, type Measured, measureCosts } from './measure-costs.ts'
import { runMixedLoad } from './mixed-load.ts'
import { type Habits, type Limits, memoryOf, oftener, planFor, workOf } from './model.ts'
import { costOfUsage } from './observe.ts'
import { costOf, resources, unitNames, units } from './units.ts'

const help = `
Calculates how many servers, and which database, a number of connected users needs.

  npm run capacity -- [options]

  --only costs,check,plan      what to do
      costs  measures what connections, updates and requests cost, and stores it in bench/capacity/costs.json
      check  compares the model with a small load on two servers; exit code 1 if they differ by a factor of 2
      plan   calculates the table; takes no time
  --users 1000,100000          connected users
  --users-per-document 4       clients that have the same document open
  --typing 0.05                of the connected users, how many type at any moment
  --updates 3                  updates per second of a user who types
  --cursors 3                  movements of the cursor per second of a user who types
  --openings 12                documents that a user opens per hour
  --reads 2, --writes 0.5      requests per minute for each connected user
  --rounds 3                   rounds of "costs"
  --quick                      one short round
  --help                       shows this text`

const { values: options } = readOptions({
  options: {
    only: { type: 'string' },
    users: { type: 'string', default: '1000,100000,10000000' },
    'users-per-document': { type: 'string', default: '4' },
    typing: { type: 'string', default: '0.05' },
    updates: { type: 'string', default: '3' },
    cursors: { type: 'string', default: '3' },
    openings: { type: 'string', default: '12' },
    reads: { type: 'string', default: '2' },
    writes: { type: 'string', default: '0.5' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
showHelp(options.help, help)
const chosen = knownValues('--only', options.only, ['costs', 'check', 'plan'])
const userCounts = wholeNumbers('--users', options.users, 1, 1_000_000_000)
const [rounds = 1] = wholeNumbers('--rounds', options.rounds ?? (options.quick ? '1' : '3'), 1, 100)
const habits: Habits = {
  usersPerDocument: wholeNumbers('--users-per-document', options['users-per-document'], 1, 1000)[0] ?? 1,
  typingShare: numberUpTo(1, '--typing', options.typing),
  updatesPerSecond: numberUpTo(100, '--updates', options.updates),
  cursorsPerSecond: numberUpTo(100, '--cursors', options.cursors),
  openingsPerHour: numberUpTo(3600, '--openings', options.openings),
  readsPerMinute: numberUpTo(6000, '--reads', options.reads),
  writesPerMinute: numberUpTo(6000, '--writes', options.writes),
}
const effort: Effort = options.quick
  ? { rounds, warmUpRounds: 1, seconds: 2, idleSeconds: 4, idleConnections: 400, settleSeconds: 2 }
  : { rounds, warmUpRounds: 2, seconds: 6, idleSeconds: 20, idleConnections: 4000, settleSeconds: 12 }
/** More of everything than in the plan, so that a small load can be measured. */
const checkHabits: Habits = {
  ...habits,
  typingShare: 0.1,
  openingsPerHour: 36,
  readsPerMinute: 4,
  writesPerMinute: 1,
}
const checkUsers = [200, 600]
const checkSeconds = options.quick ? 5 : 20
/** A model whose predictions differ by more from what was measured does not describe this machine. */
const maxFactor = 2
/** See docs/guides/capacity.md. */
const limits: Limits = {
  serverCores: 0.5,
  connections: 20_000,
  postgresCores: 16,
  walBytesPerSecond: 100_000_000,
  redisCores: 0.5,
  servers: 200,
}
const linkTitles: Record<LinkName, string> = { notify: 'NOTIFY', redis: 'Redis' }
const links = Object.keys(linkTitles) as LinkName[]
const costsFile = new URL('costs.json', import.meta.url)
const microsPerSecond = 1_000_000

function printCosts({ costs, memory }: Measured): void {
  for (const link of links) {
    printTable(
      `What each costs, with ${linkTitles[link]}: CPU µs, and bytes of PostgreSQL's log`,
      ['', 'servers: µs', 'PostgreSQL: µs', 'Redis: µs', 'WAL: bytes'],
      unitNames.map((unit) => [
        units[unit],
        ...resources.map((resource) => amount(costs[link][unit][resource])),
      ]),
    )
  }
  printTable(
    'Resident memory of a server',
    ['', 'KB'],
    [
      ['a server without connections, after some load', figure(memory.server)],
      ['a connection', figure(memory.connection)],
      ['an open document', figure(memory.openDocument)],
    ],
  )
}

/** How well the costs explain what they were calculated from. */
function printFit({ costs }: Measured, observations: Record<LinkName, Observation[]>): void {
  const rows = links.flatMap((link) => {
    const names = [...new Set(observations[link].map(({ name }) => name))]
    return names.map((name) => {
      const found = observations[link].filter((one) => one.name === name)
      const ratio = (resource: 'servers' | 'postgres') =>
        median(found.map(({ work, used }) => costOf(work, costs[link])[resource] / used[resource]))
      return [linkTitles[link], name, figure(ratio('servers')), figure(ratio('postgres'))]
    })
  })
  printTable(
    'What the costs predict for the loads that they come from, divided by what was measured',
    ['link', 'load', 'servers', 'PostgreSQL'],
    rows,
  )
}

async function checkModel({ costs, memory }: Measured): Promise<void> {
  const rows: string[][] = []
  const wrong: string[] = []
  const services = await startServices()
  for (const link of links) {
    const cluster = await startCluster(services, link, 2)
    progress(`warming up: ${linkTitles[link]}`)
    await runMixedLoad(cluster, 300, checkHabits, checkSeconds)
    for (const users of checkUsers) {
      progress(`${users} users on two servers: ${linkTitles[link]}`)
      const { used, commits, messages, residentMegabytes } = await runMixedLoad(
        cluster,
        users,
        checkHabits,
        checkSeconds,
      )
      // On a busy machine, the load takes longer than planned.
      const work = workOf(users, 2, oftener(checkHabits, checkSeconds / used.seconds))
      const predicted = costOf(work, costs[link])
      const found = costOfUsage(used)
      const compare = (what: string, predicted: number, found: number) => {
        const ratio = predicted / found
        const name = [linkTitles[link], String(users), what]
        rows.push([...name, figure(predicted), figure(found), figure(ratio)])
        if (!(Math.max(ratio, 1 / ratio) <= maxFactor)) wrong.push(name.join(', '))
      }
      const { seconds } = used
      compare('transactions with updates/s', work.commit ?? 0, commits / seconds)
      compare('messages between servers/s', work.messageSent ?? 0, messages / seconds)
      compare('servers: % of a core', predicted.servers / 10_000, found.servers / 10_000 / seconds)
      compare('PostgreSQL: % of a core', predicted.postgres / 10_000, found.postgres / 10_000 / seconds)
      if (link === 'redis')
        compare('Redis: % of a core', predicted.redis / 10_000, found.redis / 10_000 / seconds)
      compare('WAL: KB/s', predicted.walBytes / 1024, found.walBytes / 1024 / seconds)
      compare('memory of both servers: MB', memoryOf(work, memory), residentMegabytes)
    }
    await cluster.stop()
  }
  await services.stop()
  printTable(
    'The model compared with two servers',
    ['link', 'users', '', 'predicted', 'measured', 'predicted / measured'],
    rows,
  )
  if (wrong.length === 0) return
  console.log(`\nThe model is wrong by more than a factor of ${maxFactor}:\n  ${wrong.join('\n  ')}
Other programs may have been running. Otherwise measure the costs of this machine: npm run capacity -- --only costs`)
  process.exitCode = 1
}

function printPlan({ costs, memory }: Measured): void {
  const rows = userCounts.flatMap((users) =>
    links.map((link) => {
      const plan = planFor(users, habits, costs[link], memory, limits)
      const { cost } = plan
      return [
        users.toLocaleString('en'),
        linkTitles[link],
        String(plan.installations),
        Math.round(plan.users).toLocaleString('en'),
        figure(plan.updatesPerSecond),
        String(plan.servers),
        (plan.servers * plan.installations).toLocaleString('en'),
        `${figure(plan.serverCores)} (${figure(plan.peerCores)})`,
        figure(plan.serverMegabytes),
        figure(cost.postgres / microsPerSecond),
        figure(plan.commitsPerSecond),
        figure(cost.walBytes / 1e6),
        figure(plan.messagesPerSecond),
        link === 'redis' ? figure(cost.redis / microsPerSecond) : '–',
      ]
    }),
  )
  printTable(
    'What connected users need. Columns after the installations are for one installation',
    [
      'users',
      'link',
      'installations',
      'users in each',
      'updates/s',
      'servers',
      'in all',
      'cores of each (for other servers)',
      'MB of each',
      'PostgreSQL: cores',
      'commits/s',
      'WAL: MB/s',
      'messages/s',
      'Redis: cores',
    ],
    rows,
  )
}

/** More digits would say nothing. */
const rounded = (_key: string, value: unknown) =>
  typeof value === 'number' ? Number(value.toPrecision(3)) : value
/** Smaller costs are within the noise. */
const amount = (value: number) => (value < 0.05 ? '–' : figure(value))

console.log(`Node ${process.versions.node}, ${availableParallelism()} ${arch()} cores`)
if (chosen.includes('costs')) {
  const services = await startServices()
  const { observations, ...measured } = await measureCosts(services, effort)
  await services.stop()
  writeFileSync(costsFile, `${JSON.stringify(measured, rounded, 2)}\n`)
  printCosts(measured)
  printFit(measured, observations)
}
const stored = JSON.parse(readFileSync(costsFile, 'utf8')) as Measured
if (chosen.includes('check')) await checkModel(stored)
if (chosen.includes('plan')) printPlan(stored)
