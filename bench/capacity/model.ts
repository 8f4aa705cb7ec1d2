import { type Cost, type Costs, costOf, type Work } from './units.ts'

/** What users do. */
export interface Habits {
  /** Clients that have the same document open. */
  usersPerDocument: number
  /** Of the connected users, how many type at any moment. */
  typingShare: number
  /** Of a user who types: updates, and movements of the cursor. */
  updatesPerSecond: number
  cursorsPerSecond: number
  /** Of a connected user. */
  openingsPerHour: number
  readsPerMinute: number
  writesPerMinute: number
}

/** A server's memory in kilobytes. */
export interface Memory {
  server: number
  connection: number
  openDocument: number
}

/** How much of a machine the model plans to use. The rest is for peaks, and for the clients of a server that died. */
export interface Limits {
  /** Of a server, in cores. One thread of a server does nearly all its work. */
  serverCores: number
  /** Of a server: `LIMIT_CONNECTIONS`. */
  connections: number
  postgresCores: number
  walBytesPerSecond: number
  /** Redis has one thread. */
  redisCores: number
  servers: number
}

export interface Plan {
  /** Separate groups of servers, each with its own database and its own API keys. */
  installations: number
  /** The following are those of one installation. */
  users: number
  servers: number
  updatesPerSecond: number
  commitsPerSecond: number
  messagesPerSecond: number
  cost: Cost
  /** Of each server, in cores. */
  serverCores: number
  /** The part of `serverCores` that goes into messages between servers. */
  peerCores: number
  serverMegabytes: number
}

const microsPerSecond = 1_000_000

/** The same users, who do everything this many times as often. */
export const oftener = (habits: Habits, times: number): Habits => ({
  usersPerDocument: habits.usersPerDocument,
  typingShare: habits.typingShare,
  updatesPerSecond: habits.updatesPerSecond * times,
  cursorsPerSecond: habits.cursorsPerSecond * times,
  openingsPerHour: habits.openingsPerHour * times,
  readsPerMinute: habits.readsPerMinute * times,
  writesPerMinute: habits.writesPerMinute * times,
})

/** A server stores the updates of a tick together. A tick is longer if more documents have updates: 12 to 30 ms. */
const minTickSeconds = 0.012
const maxTickSeconds = 0.03
const tickSecondsPerDocument = 0.0005

/** How many transactions a server needs for this many updates a second. */
export function commitsFor(updatesPerSecond: number): number {
  if (updatesPerSecond === 0) return 0
  // The next tick begins a tick later or, if no update has arrived until then, with the next update.
  const commits = (tick: number) => 1 / (tick + Math.exp(-updatesPerSecond * tick) / updatesPerSecond)
  let tick = minTickSeconds
  for (let step = 0; step < 20; step++) {
    tick = Math.min(
      maxTickSeconds,
      minTickSeconds + tickSecondsPerDocument * (updatesPerSecond / commits(tick)),
    )
  }
  return commits(tick)
}

/** Cursors wait for each other this long before they are sent to other servers. */
const gatherSeconds = 0.01

interface Messages {
  sent: number
  heard: number
  skipped: number
  entriesHeard: number
}

const noMessages: Messages = { sent: 0, heard: 0, skipped: 0, entriesHeard: 0 }

/**
 * The messages of one server in a second. It sends this often, each time entries about several documents. Each entry is for
 * some of the other servers. A message goes to the servers that an entry in it is for, or to all if these are most of them.
 */
function messagesFor(
  sendings: number,
  entriesPerSecond: number,
  serversPerEntry: number,
  others: number,
): Messages {
  if (sendings === 0 || others === 0) return noMessages
  const entries = entriesPerSecond / sendings
  const recipients = others * (1 - (1 - serversPerEntry / others) ** entries)
  return recipients * 2 > others
    ? { sent: sendings, heard: sendings * others, skipped: 0, entriesHeard: entriesPerSecond * others }
    : {
        sent: sendings * recipients,
        heard: sendings * recipients,
        skipped: sendings * recipients * (others - 1),
        entriesHeard: entriesPerSecond * serversPerEntry,
      }
}

/** What this many users make these servers do in a second, if a load balancer spreads the users over them. */
export function workOf(users: number, servers: number, habits: Habits): Work {
  const { usersPerDocument, typingShare } = habits
  const documents = users / usersPerDocument
  /** The other servers that have a document of a client open. */
  const otherServers = (servers - 1) * (1 - (1 - 1 / servers) ** (usersPerDocument - 1))
  const openDocuments = documents * servers * (1 - (1 - 1 / servers) ** usersPerDocument)
  const documentsOfOneServer =
    servers === 1 ? documents : documents * servers * (1 / servers) ** usersPerDocument
  const updates = users * typingShare * habits.updatesPerSecond
  const cursors = users * typingShare * habits.cursorsPerSecond
  const sharedPart = documents === 0 ? 0 : 1 - documentsOfOneServer / documents
  const commits = servers * commitsFor(updates / servers)
  const openings = (users * habits.openingsPerHour) / 3600
  const others = servers - 1
  const serversPerEntry = sharedPart === 0 ? 0 : otherServers / sharedPart
  const ofUpdates = messagesFor(
    (commits / servers) * atLeastOneOf(updates / commits, sharedPart),
    (updates * sharedPart) / servers,
    serversPerEntry,
    others,
  )
  const sharedCursors = (cursors * sharedPart) / servers
  const gathered = sharedCursors === 0 ? 0 : 1 / (gatherSeconds + 1 / sharedCursors)
  const ofCursors = messagesFor(gathered, sharedCursors, serversPerEntry, others)
  // A server that opens a document asks all others for its users and its cursors.
  const ofOpenings = messagesFor(openings / servers, (2 * openings) / servers, others, others)
  const total = (count: (messages: Messages) => number) =>
    servers * [ofUpdates, ofCursors, ofOpenings].reduce((sum, messages) => sum + count(messages), 0)
  return {
    server: servers,
    connection: users,
    openDocument: openDocuments,
    sharedDocument: openDocuments - documentsOfOneServer,
    commit: commits,
    update: updates,
    delivery: updates * (usersPerDocument - 1),
    cursor: cursors,
    cursorDelivery: cursors * (usersPerDocument - 1),
    opening: openings,
    read: (users * habits.readsPerMinute) / 60,
    write: (users * habits.writesPerMinute) / 60,
    updateForwarded: updates * otherServers,
    cursorForwarded: cursors * otherServers,
    messageSent: total(({ sent }) => sent),
    messageHeard: total(({ heard }) => heard),
    messageSkipped: total(({ skipped }) => skipped),
    entryHeard: total(({ entriesHeard }) => entriesHeard),
  }
}

/** The probability that at least one of this many, which may be no whole number, is of a kind with this share. */
const atLeastOneOf = (count: number, share: number) => (count > 0 ? 1 - (1 - share) ** count : 0)

/** Resident memory of all servers in megabytes. */
export const memoryOf = (work: Work, memory: Memory): number =>
  ((work.server ?? 0) * memory.server +
    (work.connection ?? 0) * memory.connection +
    (work.openDocument ?? 0) * memory.openDocument) /
  1024

/** Work that a server does because there are others. */
const peerUnits = [
  'updateForwarded',
  'cursorForwarded',
  'messageSent',
  'messageHeard',
  'messageSkipped',
  'entryHeard',
] as const

/** The smallest number of installations and, in each, of servers that stays within the limits. */
export function planFor(users: number, habits: Habits, costs: Costs, memory: Memory, limits: Limits): Plan {
  for (let installations = 1; installations <= users; installations++) {
    const ofOne = users / installations
    for (let servers = Math.ceil(ofOne / limits.connections); servers <= limits.servers; servers++) {
      const work = workOf(ofOne, servers, habits)
      const cost = costOf(work, costs)
      const serverCores = cost.servers / microsPerSecond / servers
      const isPossible =
        cost.postgres <= limits.postgresCores * microsPerSecond &&
        cost.redis <= limits.redisCores * microsPerSecond &&
        cost.walBytes <= limits.walBytesPerSecond
      // More servers only add to the cost of PostgreSQL and Redis.
      if (!isPossible) break
      if (serverCores > limits.serverCores) continue
      const ofPeers = Object.fromEntries(peerUnits.map((unit) => [unit, work[unit]]))
      return {
        installations,
        users: ofOne,
        servers,
        updatesPerSecond: work.update ?? 0,
        commitsPerSecond: work.commit ?? 0,
        messagesPerSecond: work.messageSent ?? 0,
        cost,
        serverCores,
        peerCores: costOf(ofPeers, costs).servers / microsPerSecond / servers,
        serverMegabytes: memoryOf(work, memory) / servers,
      }
    }
  }
  throw new Error('Not even one user fits into the limits.')
}
