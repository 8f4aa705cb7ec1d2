import type { OnlineStatus } from '@plenum/protocol/realtime'
import type { ServerId } from '../../peers/peers.ts'
import { flatText } from '../../platform/flat-text.ts'
import { BytePace } from '../../platform/turns/byte-pace.ts'
import { retentionMs, type PresenceEntry } from '../../store/documents/presence.ts'
import type { Look } from '../../store/users/profiles.ts'

/** A user without activity is away, and later offline, after these times. */
const awayMs = 5 * 60_000
const offlineMs = 10 * 60_000

/** Limit of each user's changes. A cursor that moves twenty times a second takes about 6 KB a second. */
const maxBytesPerSecond = 32 * 1024

const statuses: readonly OnlineStatus[] = ['online', 'away', 'offline']
const better = (one: OnlineStatus, other: OnlineStatus) =>
  statuses.indexOf(one) < statuses.indexOf(other) ? one : other
const worse = (one: OnlineStatus, other: OnlineStatus) => (better(one, other) === one ? other : one)

/** A client with the identity of its user, from the token and the profile. */
export interface IdentityHolder {
  readonly identity: {
    readonly userId: string
    readonly name: string | undefined
    readonly email: string | undefined
    readonly look: Look
  }
  /** Whether the latest decision about the user's access allows writing, even if that decision is stale. */
  readonly hasWriteRole: boolean
}

/**
 * One client of a person, or all clients of the person on another server. Events of clients and backends are numbered
 * together, so the highest number is the latest.
 */
export interface PresentClient {
  readonly person: PresentPerson
  /** The other server. It decides about the status of its clients, so time alone does not change it here. */
  readonly server?: ServerId
  /** The user's activity on the other server. See `PresentPerson.activity`. */
  readonly activity?: number
  /** When the entry of the other server has changed, in epoch milliseconds. */
  readonly changedAt?: number | undefined
  readonly holder: IdentityHolder
  /** Whether the client reports when its user is idle. Then its status is kept as long as it sends messages. */
  readonly reportsIdleness: boolean
  status: OnlineStatus
  /** JSON of an object. */
  data: string | undefined
  /** Number and time of the last activity of the user at this client. */
  activeSeq: number
  activeAt: number
  /** Number and time of the last message of the client. See also `seqOfOtherServer`. */
  seenSeq: number
  seenAt: number
}

/** The entry of a person, as the presence list shows it. */
export interface ShownEntry {
  /** JSON of a `PresentUser`. */
  json: string
  /** How many leading characters of `json` are compared. An entry of a client is compared without its timestamp. */
  comparedLength: number
  status: OnlineStatus
  /** When the entry has changed, in epoch milliseconds. */
  changedAt: number
  /** The client that the entry comes from. Undefined if a backend made the latest update. */
  sourceClient: PresentClient | undefined
}

/** A user in a document: the user's clients and the entry that a backend set. The latest update wins. */
export class PresentPerson {
  readonly userId: string
  /** A list, because most people have one client, and a set takes four times as much memory. */
  clients: readonly PresentClient[] = []
  backendEntry: PresenceEntry | undefined
  /** Number of the backend's latest update. 0 if that update is older than all events of clients. */
  backendSeq = 0
  /** Number of the update by which a backend removed the person from the list. */
  hiddenSeq = 0
  shown: ShownEntry | undefined
  /** When time alone may change the entry next, in epoch milliseconds. */
  changesAt = Infinity
  /** Number of the latest change of `shown`, in the sequence of `PresenceBroadcast`. */
  changeSeq = 0
  /** Whether `shown` has changed since it was last broadcast. */
  mustBroadcast = false
  /**
   * Orders the user's activity on different servers: the highest number is that of the latest. About the time of an activity
   * after which this server was the latest, in epoch milliseconds, but higher than all numbers that this server knew then. So
   * servers with different clocks agree.
   */
  activity = 0
  /** Bounds the bytes that the changes of one user send to everybody in the document. */
  readonly pace = new BytePace(maxBytesPerSecond)

  constructor(userId: string) {
    this.userId = userId
  }

  /**
   * Whether a client of the person may write, or a backend has set an entry. Then the entry is broadcast before those of
   * viewers.
   */
  get hasWriteRole(): boolean {
    if (this.backendEntry) return true
    for (const { holder } of this.clients) if (holder.hasWriteRole) return true
    return false
  }

  /** Whether the person has neither clients nor an entry of a backend. */
  get isGone(): boolean {
    return this.clients.length === 0 && this.backendEntry === undefined
  }

  /** The clients of this server. */
  get ownClients(): readonly PresentClient[] {
    return this.clients.filter(({ server }) => server === undefined)
  }

  /** Call it when the user is active on this server. */
  onActive(now: number): void {
    let latest = 0
    for (const { activity = 0 } of this.clients) latest = Math.max(latest, activity)
    if (latest < this.activity) return
    // The fraction decides between servers with equal numbers.
    this.activity = Math.max(now, Math.ceil(latest)) + Math.random()
  }

  /** Replaces what represents the user's clients on another server. */
  setServerClient(server: ServerId, client: PresentClient | undefined): void {
    const others = this.clients.filter((one) => one.server !== server)
    this.clients = client ? others.concat(client) : others
    const { activeAt = 0 } = latestOf(this.ownClients) ?? {}
    const { activity = 0 } = client ?? {}
    // The user has been active here since, which the other server does not know.
    if (this.activity < activity && activity < activeAt) this.activity = activeAt + Math.random()
  }

  /** The client at which the user was active last. */
  get #latestClient(): PresentClient | undefined {
    let latest = latestOf(this.ownClients)
    let latestActivity = latest ? this.activity : 0
    for (const client of this.clients) {
      const { activity = 0 } = client
      if (activity > latestActivity) [latest, latestActivity] = [client, activity]
    }
    return latest
  }

  /** Whether an update of a backend is later than the last message of these clients. */
  isOverridden(clients: readonly PresentClient[]): boolean {
    let seenSeq = -1
    for (const client of clients) seenSeq = Math.max(seenSeq, client.seenSeq)
    return seenSeq <= this.hiddenSeq || (this.backendEntry !== undefined && seenSeq < this.backendSeq)
  }

  /** Computes `shown` again. Returns true if it has changed. */
  update(now: number): boolean {
    if (this.backendEntry && expiryOf(this.backendEntry) <= now) this.backendEntry = undefined
    const shown = this.#computeShown(now)
    this.changesAt = this.#nextChangeAt(now)
    if (comparedPart(shown) !== comparedPart(this.shown)) {
      this.shown = shown
      return true
    }
    // An equal entry may come from another client.
    if (shown && this.shown) this.shown.sourceClient = shown.sourceClient
    return false
  }

  /** Returns undefined if the list does not show the person. */
  #computeShown(now: number): ShownEntry | undefined {
    const sourceClient = this.#latestClient
    const { backendEntry } = this
    if (!sourceClient) return backendEntry && showBackendEntry(backendEntry, undefined)
    if (!this.isOverridden(this.clients)) return this.#showClient(sourceClient, now)
    return backendEntry && showBackendEntry(backendEntry, sourceClient)
  }

  #showClient(sourceClient: PresentClient, now: number): ShownEntry {
    const status = bestStatusOf(this.clients, now)
    const changedAt = sourceClient.changedAt ?? now
    const { name, email, look } = sourceClient.holder.identity
    const head = { userId: this.userId, name, email, ...look, onlineStatus: status }
    const entry = openJsonOf(head, sourceClient.data, 'client')
    const json = flatText(`${entry},"timestamp":${changedAt}}`)
    return { json, comparedLength: entry.length, status, changedAt, sourceClient }
  }

  #nextChangeAt(now: number): number {
    let next = this.backendEntry ? expiryOf(this.backendEntry) : Infinity
    for (const client of this.clients) {
      const since = idleSince(client)
      const times = [since + awayMs, since + offlineMs]
      next = Math.min(next, times.find((at) => at > now) ?? Infinity)
    }
    return next
  }
}

const comparedPart = (entry: ShownEntry | undefined) => entry?.json.slice(0, entry.comparedLength)

const expiryOf = ({ lastUpdated }: PresenceEntry) => lastUpdated + retentionMs

/** The client of this server at which the user was active last. */
export function latestOf(ownClients: readonly PresentClient[]): PresentClient | undefined {
  let latest: PresentClient | undefined
  for (const client of ownClients) if (!latest || client.activeSeq > latest.activeSeq) latest = client
  return latest
}

export function bestStatusOf(clients: readonly PresentClient[], now: number): OnlineStatus {
  let status: OnlineStatus = 'offline'
  for (const client of clients) status = better(status, statusOf(client, now))
  return status
}

/**
 * The number of the last message of clients on another server. That server decides whether an update of a backend is later
 * than all their messages.
 */
export const seqOfOtherServer = (isOverridden: boolean): number => (isOverridden ? -1 : Infinity)

/** Since when the user counts as idle, in epoch milliseconds. */
const idleSince = ({ server, reportsIdleness, seenAt, activeAt }: PresentClient) =>
  server !== undefined ? Infinity : reportsIdleness ? seenAt : activeAt

function statusOf(client: PresentClient, now: number): OnlineStatus {
  const idleMs = now - idleSince(client)
  return worse(client.status, idleMs >= offlineMs ? 'offline' : idleMs >= awayMs ? 'away' : 'online')
}

/** The entry of a backend, completed by the identity and the data of the user's client, if there is one. */
function showBackendEntry(entry: PresenceEntry, client: PresentClient | undefined): ShownEntry {
  const { userId, status, lastUpdated } = entry
  const identity = client?.holder.identity
  const head = {
    userId,
    name: entry.name ?? identity?.name,
    email: entry.email ?? identity?.email,
    ...(identity ?? entry).look,
    ...entry.sentLook,
    onlineStatus: status,
  }
  const json = flatText(`${openJsonOf(head, entry.data ?? client?.data, 'rest')},"timestamp":${lastUpdated}}`)
  return { json, comparedLength: json.length, status, changedAt: lastUpdated, sourceClient: undefined }
}

/** The JSON of the entry without its closing brace. */
const openJsonOf = (head: object, data: string | undefined, source: 'client' | 'rest') =>
  `${JSON.stringify(head).slice(0, -1)}${data === undefined ? '' : `,"data":${data}`},"source":"${source}"`
