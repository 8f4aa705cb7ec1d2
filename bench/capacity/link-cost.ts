import { setTimeout as wait } from 'node:timers/promises'
import { addressOf, allServers, Peers } from '../../packages/server/src/peers/peers.ts'
import { createPostgresLink } from '../../packages/server/src/platform/server-link/postgres-link.ts'
import { createRedisLink } from '../../packages/server/src/platform/server-link/redis-link.ts'
import type { Services } from '../nodes/cluster.ts'
import { postgresTimes, timeBetween } from '../postgres-times.ts'
import { cpuMicrosecondsOf } from '../process.ts'
import type { Observation } from './fit.ts'

export type LinkName = 'notify' | 'redis'

/** Of all servers together, so that only the number of those who hear a message differs. */
const messagesPerSecond = 1000
const serverCounts = [2, 9]
/** A message goes to all other servers, or to one of them. */
const kinds = [
  { entries: 1, toOne: false },
  { entries: 40, toOne: false },
  { entries: 1, toOne: true },
]
/** With Redis, the message has the update itself. */
const bodyBytes = { notify: 3, redis: 60 }
const log = { info: () => {}, warn: () => {}, error: () => {} }

/** What messages cost. The servers of this measurement have no documents open, so they skip all entries. */
export async function observeLink(
  services: Services,
  link: LinkName,
  seconds: number,
): Promise<Observation[]> {
  const observations: Observation[] = []
  for (const servers of serverCounts) {
    const database = await services.postgres.createDatabase()
    const peers = Array.from({ length: servers }, () => {
      const server = new Peers({
        log,
        link:
          link === 'redis'
            ? createRedisLink({ url: services.redis.url, findDatabaseId: async () => database })
            : createPostgresLink({ url: database }),
      })
      server.start()
      return server
    })
    while (peers.some(({ count }) => count < servers - 1)) await wait(20)
    const messages = messagesPerSecond * seconds
    const send = (entries: number, toOne = false) =>
      sendMessages(peers, { entries, toOne, bytes: bodyBytes[link], count: messages })
    await send(1)
    // Without messages: what the timers of this measurement cost.
    const ownBefore = cpuMicrosecondsOf(process.pid)
    await send(0)
    const ownOfTimers = cpuMicrosecondsOf(process.pid) - ownBefore
    for (const { entries, toOne } of kinds) {
      // Of two servers, one is all others.
      if (toOne && servers === 2) continue
      const read = async () => ({
        own: cpuMicrosecondsOf(process.pid),
        postgres: postgresTimes(services.postgres, new URL(database).pathname.slice(1)),
        redis: cpuMicrosecondsOf(services.redis.pid),
        walBytes: await services.walBytes(),
      })
      const before = await read()
      await send(entries, toOne)
      const after = await read()
      observations.push({
        name: `${link}: ${servers} servers, ${entries} entries, ${toOne ? 'to one' : 'to all'}`,
        work: {
          messageSent: messages,
          messageHeard: messages * (toOne ? 1 : servers - 1),
          messageSkipped: toOne ? messages * (servers - 2) : 0,
          entryHeard: messages * (toOne ? 1 : servers - 1) * entries,
        },
        used: {
          servers: after.own - before.own - ownOfTimers,
          postgres: timeBetween(before.postgres, after.postgres),
          redis: link === 'redis' ? after.redis - before.redis : 0,
          walBytes: after.walBytes - before.walBytes,
        },
      })
    }
    await Promise.all(peers.map((server) => server.stop()))
  }
  return observations
}

/** The servers send in turns. Resolves when all messages have arrived. */
async function sendMessages(
  peers: readonly Peers[],
  { entries, toOne, bytes, count }: { entries: number; toOne: boolean; bytes: number; count: number },
): Promise<void> {
  const addresses = Array.from({ length: entries }, (_, n) => addressOf('document', String(n)))
  const body = new Uint8Array(bytes)
  const receivedOf = () => peers.reduce((sum, { numbers }) => sum + numbers.receivedMessages, 0)
  const expected = receivedOf() + (entries === 0 ? 0 : count * (toOne ? 1 : peers.length - 1))
  const began = performance.now()
  for (let sent = 0; sent < count; await wait(1)) {
    const due = Math.min(count, ((performance.now() - began) * messagesPerSecond) / 1000)
    for (; sent < due; sent++) {
      const sender = peers[sent % peers.length]
      const next = peers[(sent + 1) % peers.length]
      const to = toOne && next ? [next.serverId] : allServers
      for (const address of addresses) sender?.send('editor', address, body, to)
      // What a server sends in one iteration of the event loop is one message.
      await new Promise(setImmediate)
    }
  }
  for (let tries = 0; tries < 200 && receivedOf() < expected; tries++) await wait(10)
  if (receivedOf() < expected) throw new Error('Messages between servers were lost.')
}
