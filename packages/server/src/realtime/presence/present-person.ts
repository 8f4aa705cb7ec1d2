import type { OnlineStatus } from '@plenum/protocol/realtime'
import { keptMs, type Present } from '../../store/documents/presence.ts'
import type { Look } from '../../store/users/profiles.ts'
import { BytePace } from '../../platform/turns/byte-pace.ts'

/** A user without a sign of activity counts as away, and then as offline, after so long. */
const awayMs = 5 * 60_000
const offlineMs = 10 * 60_000

/** Cursors that move twenty times a second take some 6 KB. */
const maxBytesPerSecond = 32 * 1024

const statuses: readonly OnlineStatus[] = ['online', 'away', 'offline']
const better = (one: OnlineStatus, other: OnlineStatus) =>
  statuses.indexOf(one) < statuses.indexOf(other) ? one : other
const worse = (one: OnlineStatus, other: OnlineStatus) => (better(one, other) === one ? other : one)

/** Who somebody is, by the token and the profile. */
export interface Known {
  readonly identity: {
    readonly userId: string
    readonly name: string | undefined
    readonly email: string | undefined
    readonly look: Look
  }
  readonly canWrite: boolean
}

/** One client of a person. Words are numbered in the order in which they were heard, those of backends too. */
export interface PresentClient {
  readonly person: PresentPerson
  readonly of: Known
  /** It says itself when its user is idle. As long as it says anything, it is believed. */
  readonly tellsIdleness: boolean
  status: OnlineStatus
  /** JSON of an object. */
  data: string | undefined
  /** Number and time of what its user did last. */
  activeWord: number
  activeAt: number
  /** Number and time of its last sign of life. */
  heardWord: number
  heardAt: number
}

/** How a person is shown. */
export interface Shown {
  /** Everything but the time of the change; as long as it is the same, nothing has changed. */
  face: string
  /** A `PresentUser`. */
  json: string
  status: OnlineStatus
  /** The client that it is taken from; undefined when a backend had the last word. */
  lead: PresentClient | undefined
}

/** A user in a document: the clients there are, and what backends say. The more recent word counts. */
export class PresentPerson {
  readonly userId: string
  readonly clients = new Set<PresentClient>()
  rest: Present | undefined
  /** Number of the backend's last word; 0 if it came before all clients. */
  restWord = 0
  /** Number of the word by which a backend took the person off the list. */
  hiddenWord = 0
  shown: Shown | undefined
  /** When time alone may change how the person is shown. */
  changesAt = Infinity
  /** The number of the change by which it is shown as it is. */
  change = 0
  /** Whether subscribers do not know yet how it is shown. */
  mustTell = false
  /** Bounds what one user makes everyone in the document receive. */
  readonly pace = new BytePace(maxBytesPerSecond)

  constructor(userId: string) {
    this.userId = userId
  }

  /** Whether the entry comes from somebody who may write, or from a backend. */
  get isWriter(): boolean {
    if (this.rest) return true
    for (const { of } of this.clients) if (of.canWrite) return true
    return false
  }

  get isNobody(): boolean {
    return this.clients.size === 0 && this.rest === undefined
  }

  /** Ends what a backend said so long ago that it does not count any more. */
  expire(now: number): void {
    if (this.rest && endOf(this.rest) <= now) this.rest = undefined
  }

  /** Undefined if the person is not on the list. */
  look(now: number): Shown | undefined {
    let lead: PresentClient | undefined
    let heardWord = 0
    for (const client of this.clients) {
      if (!lead || client.activeWord > lead.activeWord) lead = client
      heardWord = Math.max(heardWord, client.heardWord)
    }
    const { rest } = this
    if (rest && (!lead || this.restWord > heardWord)) return showRest(rest, lead)
    return lead && heardWord > this.hiddenWord ? this.#showClient(lead, now) : undefined
  }

  #showClient(lead: PresentClient, now: number): Shown {
    let status: OnlineStatus = 'offline'
    for (const client of this.clients) status = better(status, statusOf(client, now))
    const { name, email, look } = lead.of.identity
    const head = { userId: this.userId, name, email, ...look, onlineStatus: status }
    const face = faceOf(head, lead.data, 'client')
    return { face, json: `${face},"timestamp":${now}}`, status, lead }
  }

  /** Brings `shown` up to date; true if it is another one now. */
  update(now: number): boolean {
    this.expire(now)
    const shown = this.look(now)
    this.changesAt = this.#nextChangeAt(now)
    if (shown?.face !== this.shown?.face) {
      this.shown = shown
      return true
    }
    // The lead may be another client with the same to say.
    if (shown && this.shown) this.shown.lead = shown.lead
    return false
  }

  #nextChangeAt(now: number): number {
    let next = this.rest ? endOf(this.rest) : Infinity
    for (const client of this.clients) {
      const since = idleSince(client)
      const times = [since + awayMs, since + offlineMs]
      next = Math.min(next, times.find((at) => at > now) ?? Infinity)
    }
    return next
  }
}

const endOf = ({ lastUpdated }: Present) => lastUpdated + keptMs

const idleSince = ({ tellsIdleness, heardAt, activeAt }: PresentClient) =>
  tellsIdleness ? heardAt : activeAt

function statusOf(client: PresentClient, now: number): OnlineStatus {
  const idleMs = now - idleSince(client)
  return worse(client.status, idleMs >= offlineMs ? 'offline' : idleMs >= awayMs ? 'away' : 'online')
}

function showRest(rest: Present, lead?: PresentClient): Shown {
  const { userId, status, lastUpdated } = rest
  const known = lead?.of.identity
  const head = {
    userId,
    name: rest.name ?? known?.name,
    email: rest.email ?? known?.email,
    ...(known ?? rest).look,
    onlineStatus: status,
  }
  const face = `${faceOf(head, lead?.data, 'rest')},"timestamp":${lastUpdated}`
  return { face, json: `${face}}`, status, lead: undefined }
}

/** JSON without its end. */
const faceOf = (head: object, data: string | undefined, source: 'client' | 'rest') =>
  `${JSON.stringify(head).slice(0, -1)}${data === undefined ? '' : `,"data":${data}`},"source":"${source}"`
