import { residentKilobytesOf } from '../process.ts'
import { type Cluster, type Services, startCluster } from '../nodes/cluster.ts'
import { progress } from '../report.ts'
import { fitCosts, type Observation } from './fit.ts'
import { type LinkName, observeLink } from './link-cost.ts'
import type { Memory } from './model.ts'
import {
  createClosedDocuments,
  observeIdle,
  observeNothing,
  observeOpenings,
  observeRequests,
  observeTyping,
  type TypingLoad,
} from './observe.ts'
import type { Costs } from './units.ts'

/** Everything that the model needs to know. */
export interface Measured {
  costs: Record<LinkName, Costs>
  memory: Memory
}

export interface Effort {
  rounds: number
  warmUpRounds: number
  seconds: number
  idleSeconds: number
  idleConnections: number
  settleSeconds: number
}

const linkUnits = ['messageSent', 'messageHeard', 'messageSkipped', 'entryHeard'] as const
const ownUnits = [
  'server',
  'connection',
  'openDocument',
  'commit',
  'update',
  'delivery',
  'cursor',
  'cursorDelivery',
  'opening',
  'read',
  'write',
] as const
const sharedUnits = ['sharedDocument', 'updateForwarded', 'cursorForwarded'] as const

/**
 * Loads that differ in what they do most, on one server and on two. Most keep a server about half busy, as in the plan: one
 * that has little to do needs several times as long for each thing.
 */
const typingOnOne: readonly TypingLoad[] = [
  {
    documents: 50,
    clients: 1,
    phases: [
      { kind: 'updates', perSecond: 100 },
      { kind: 'updates', perSecond: 1500 },
      { kind: 'cursors', perSecond: 1500 },
    ],
  },
  {
    documents: 2,
    clients: 40,
    phases: [
      { kind: 'updates', perSecond: 400 },
      { kind: 'cursors', perSecond: 100 },
    ],
  },
]
const typingOnTwo: TypingLoad = {
  documents: 50,
  clients: 2,
  phases: [
    { kind: 'nothing', perSecond: 0 },
    { kind: 'updates', perSecond: 300 },
    { kind: 'updates', perSecond: 1000 },
    { kind: 'cursors', perSecond: 600 },
  ],
}
const requestCount = 3000
const openingCount = 400

/** Also returns what was observed, by the link. */
export async function measureCosts(
  services: Services,
  effort: Effort,
): Promise<Measured & { observations: Record<LinkName, Observation[]> }> {
  const alone = await startCluster(services, 'notify', 1)
  const { observations: ofOne, kilobytes } = await observeOne(alone, effort)
  await alone.stop()
  const own = fitCosts(ofOne, ownUnits)

  const costs = {} as Measured['costs']
  const observations = {} as Record<LinkName, Observation[]>
  for (const link of ['notify', 'redis'] as const) {
    progress(`messages between servers: ${link}`)
    const messages = await repeat(effort.rounds, 0, [() => observeLink(services, link, effort.seconds)])
    const known = { ...own, ...fitCosts(messages, linkUnits) }
    const two = await startCluster(services, link, 2)
    const shared = await repeat(effort.rounds, effort.warmUpRounds, [
      () => observeTyping(two, typingOnTwo, effort.seconds),
    ])
    await two.stop()
    costs[link] = { ...known, ...fitCosts(shared, sharedUnits, known) }
    observations[link] = [...ofOne, ...messages, ...shared]
  }
  const perDocument = Math.max(0, (kilobytes.alone - kilobytes.ten) / 0.9)
  const memory = {
    server: kilobytes.server,
    connection: Math.max(0, kilobytes.alone - perDocument),
    openDocument: perDocument,
  }
  return { costs, memory, observations }
}

/** `kilobytes`: of the server, of a connection that is alone in its document, and of one that is there with nine others. */
async function observeOne(cluster: Cluster, { rounds, warmUpRounds, seconds, ...idle }: Effort) {
  const closed = await createClosedDocuments(cluster, 'closed', openingCount)
  const observations = await repeat(rounds, warmUpRounds, [
    ...typingOnOne.map((load) => () => observeTyping(cluster, load, seconds)),
    async () => [await observeRequests(cluster, 'read', requestCount)],
    async () => [await observeRequests(cluster, 'write', requestCount)],
    async () => [await observeOpenings(cluster, closed)],
    async () => [await observeNothing(cluster, idle.idleSeconds)],
  ])
  const observeConnections = async (connectionsPerDocument: number) => {
    progress(`${idle.idleConnections} idle connections, ${connectionsPerDocument} per document`)
    const load = {
      connectionCount: idle.idleConnections,
      connectionsPerDocument,
      settleSeconds: idle.settleSeconds,
    }
    const { observation, kilobytes } = await observeIdle(cluster, load, idle.idleSeconds)
    observations.push(observation)
    return kilobytes
  }
  const kilobytes = {
    server: residentKilobytesOf(cluster.servers[0]!.pid),
    ten: await observeConnections(10),
    alone: await observeConnections(1),
  }
  return { observations, kilobytes }
}

type Observe = () => Promise<Observation[]>

/** Repeats everything in rounds. Rounds in which the servers warm up are not used. */
async function repeat(rounds: number, warmUpRounds: number, all: readonly Observe[]): Promise<Observation[]> {
  const observations: Observation[] = []
  for (let round = 1 - warmUpRounds; round <= rounds; round++) {
    for (const observe of all) {
      const found = await observe()
      if (round > 0) observations.push(...found)
    }
  }
  return observations
}
