import type { OnlineStatus } from '@plenum/protocol/realtime'
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

/** One client of a person. Events of clients and backends are numbered together, so the highest number is the latest. */
export interface PresentClient {
  readonly person: PresentPerson
  readonly holder: IdentityHolder
  /** Whether the client reports when its user is idle. Then its status is kept as long as it sends messages. */
  readonly reportsIdleness: boolean
  status: OnlineStatus
  /** JSON of an object. */
  data: string | undefined
  /** Number and time of the last activity of the user at this client. */
  activeSeq: number
  activeAt: number
  /** Number and time of the last message of the client. */
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
    let sourceClient: PresentClient | undefined
    let seenSeq = 0
    for (const client of this.clients) {
      if (!sourceClient || client.activeSeq > sourceClient.activeSeq) sourceClient = client
      seenSeq = Math.max(seenSeq, client.seenSeq)
    }
    const { backendEntry } = this
    if (backendEntry && (!sourceClient || this.backendSeq > seenSeq)) {
      return showBackendEntry(backendEntry, sourceClient)
    }
    return sourceClient && seenSeq > this.hiddenSeq ? this.#showClient(sourceClient, now) : undefined
  }

  #showClient(sourceClient: PresentClient, now: number): ShownEntry {
    let status: OnlineStatus = 'offline'
    for (const client of this.clients) status = better(status, statusOf(client, now))
    const { name, email, look } = sourceClient.holder.identity
    const head = { userId: this.userId, name, email, ...look, onlineStatus: status }
    const entry = openJsonOf(head, sourceClient.data, 'client')
    const json = flatText(`${entry},"timestamp":${now}}`)
    return { json, comparedLength: entry.length, status, sourceClient }
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

/** Since when the user counts as idle, in epoch milliseconds. */
const idleSince = ({ reportsIdleness, seenAt, activeAt }: PresentClient) =>
  reportsIdleness ? seenAt : activeAt

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
    onlineStatus: status,
  }
  const json = flatText(`${openJsonOf(head, client?.data, 'rest')},"timestamp":${lastUpdated}}`)
  return { json, comparedLength: json.length, status, sourceClient: undefined }
}

/** The JSON of the entry without its closing brace. */
const openJsonOf = (head: object, data: string | undefined, source: 'client' | 'rest') =>
  `${JSON.stringify(head).slice(0, -1)}${data === undefined ? '' : `,"data":${data}`},"source":"${source}"`
