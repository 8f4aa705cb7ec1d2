import type { OnlineStatus } from '@plenum/protocol/realtime'
import type { SharedItem } from '../../peers/list-messages.ts'
import type { ServerId } from '../../peers/peers.ts'
import type { SharedList, SharedListSource } from '../../peers/shared-list.ts'
import type { PresenceEntry } from '../../store/documents/presence.ts'
import { Limiter } from '../../platform/turns/limiter.ts'
import { PresenceBroadcast, type PresenceSubscriber } from './presence-broadcast.ts'
import { PresenceFields } from './presence-fields.ts'
import { clientOfItem, presenceItemOf } from './presence-item.ts'
import { type IdentityHolder, type PresentClient, PresentPerson } from './present-person.ts'

export interface PresenceDeps {
  now: () => number
  /** Reads the entries that backends have set: those of these users. Default: all entries. */
  read: (userIds?: readonly string[]) => Promise<PresenceEntry[]>
  onError: (error: unknown) => void
  /** Runs the steps in turns with other work. */
  run: (steps: Iterator<unknown>) => void
  /** Shares the users of the clients with other servers. Undefined if there are none. */
  share?: (source: SharedListSource) => SharedList | undefined
}

/** What a client sets for itself. An undefined field stays as it is. */
export interface OwnPresence {
  status: OnlineStatus | undefined
  /** JSON of an object. Null removes the data. */
  data: string | null | undefined
}

/** A client that opens the document gets at most this much of the list. The other entries follow later. */
const maxListBytes = 1024 * 1024
/** At most this many changed entries are computed again for a client that opens the document. */
const maxUpdatesPerList = 200

/**
 * The presence list of an open document: the users of all clients, in every dialect and on all servers, and the users that
 * backends add. The entries of clients are never stored.
 */
export class LivePresence {
  readonly #deps: PresenceDeps
  /** By user id. */
  readonly #people = new Map<string, PresentPerson>()
  readonly #clients = new Map<IdentityHolder, PresentClient>()
  readonly #broadcast: PresenceBroadcast
  /** The users of the clients of all servers. */
  readonly #shared: SharedList | undefined
  #loading: Promise<void> | undefined
  /** Runs one read of the database at a time. */
  readonly #reads = new Limiter(1, { startsAtOnce: true })
  /** The number of the latest event. Events of clients and backends share one sequence. */
  #seq = 0
  /** Increases when the document is closed, so that the result of a read that is still running is ignored. */
  #generation = 0
  /** When time alone may change an entry next. */
  #nextChangeAt = Infinity

  constructor(deps: PresenceDeps) {
    this.#deps = deps
    const { now, run } = deps
    this.#broadcast = new PresenceBroadcast({ now, run, onUpdated: (person) => this.#onUpdated(person) })
    this.#shared = deps.share?.({
      ownKeys: () => this.#ownUserIds(),
      ownItem: (userId) => this.#ownItem(userId),
      onItem: (server, userId, item) => this.#onItem(server, userId, item),
      onRemoved: (server, userId) => this.#setServerClient(server, userId, undefined),
      run,
    })
  }

  /** Call it when a client of this server has opened the document. From now on, other servers send their clients. */
  open(): void {
    this.#shared?.open()
  }

  /** Call it when the document is dropped. */
  close(): void {
    this.#shared?.close()
  }

  #ownUserIds(): Set<string> {
    const userIds = new Set<string>()
    for (const { person } of this.#clients.values()) userIds.add(person.userId)
    return userIds
  }

  #ownItem(userId: string): SharedItem | undefined {
    const person = this.#people.get(userId)
    return person && presenceItemOf(person, this.#deps.now())
  }

  #onItem(server: ServerId, userId: string, item: SharedItem): void {
    const person = this.#people.get(userId) ?? new PresentPerson(userId)
    const client = clientOfItem(server, person, item)
    this.#people.set(userId, person)
    this.#setServerClient(server, userId, client)
  }

  /** Replaces what represents the user's clients on another server. */
  #setServerClient(server: ServerId, userId: string, client: PresentClient | undefined): void {
    const person = this.#people.get(userId)
    if (!person) return
    person.setServerClient(server, client)
    this.#broadcast.markChanged(person)
  }

  enter(holder: IdentityHolder, reportsIdleness: boolean): void {
    const { userId } = holder.identity
    const person = this.#people.get(userId) ?? this.#add(userId)
    const seq = ++this.#seq
    const now = this.#deps.now()
    const client: PresentClient = {
      person,
      holder,
      reportsIdleness,
      status: 'online',
      data: undefined,
      activeSeq: seq,
      activeAt: now,
      seenSeq: seq,
      seenAt: now,
    }
    person.onActive(now)
    // Unlike a spread, this leaves no space for further clients.
    person.clients = person.clients.concat(client)
    this.#clients.set(holder, client)
    this.#broadcast.markChanged(person)
  }

  leave(holder: IdentityHolder): void {
    const client = this.#clients.get(holder)
    if (!client) return
    this.#clients.delete(holder)
    client.person.clients = client.person.clients.filter((one) => one !== client)
    this.#broadcast.markChanged(client.person)
  }

  /** The user has been active. */
  markActive(holder: IdentityHolder): void {
    const client = this.#clients.get(holder)
    if (!client) return
    this.#markSeen(client)
    client.activeSeq = client.seenSeq
    client.activeAt = client.seenAt
    client.person.onActive(client.seenAt)
    const { shown } = client.person
    if (shown?.sourceClient !== client || shown.status !== 'online') {
      this.#broadcast.markChanged(client.person)
    }
  }

  /** The client has sent a message, which does not mean that its user is active. */
  touch(holder: IdentityHolder): void {
    const client = this.#clients.get(holder)
    if (!client) return
    this.#markSeen(client)
    const { shown } = client.person
    if (!shown?.sourceClient || shown.status !== 'online') this.#broadcast.markChanged(client.person)
  }

  #markSeen(client: PresentClient): void {
    client.seenSeq = ++this.#seq
    client.seenAt = this.#deps.now()
  }

  set(holder: IdentityHolder, { status, data }: OwnPresence): void {
    const client = this.#clients.get(holder)
    if (!client) return
    if (status !== undefined) client.status = status
    if (data !== undefined) client.data = data ?? undefined
    this.markActive(holder)
    this.#broadcast.markChanged(client.person)
  }

  /** The client has a new token, which may contain another name. */
  identityChanged(holder: IdentityHolder): void {
    const client = this.#clients.get(holder)
    if (client) this.#broadcast.markChanged(client.person)
  }

  /** A backend has changed the entries of these users or, with `isRemoval`, removed them. Reads the entries. */
  async backendChanged(userIds: readonly string[], isRemoval: boolean): Promise<void> {
    const seq = ++this.#seq
    await this.#read(userIds, (entries) => {
      for (const userId of userIds) this.#setBackendEntry(userId, entries.get(userId), seq, isRemoval)
    }).catch(this.#deps.onError)
  }

  /** Reads run one at a time, so the result of a later read is newer. */
  #read(
    userIds: readonly string[] | undefined,
    onRead: (entries: Map<string, PresenceEntry>) => void,
  ): Promise<void> {
    const generation = this.#generation
    return this.#reads.run('', async () => {
      const entries = await this.#deps.read(userIds)
      if (generation === this.#generation) onRead(new Map(entries.map((entry) => [entry.userId, entry])))
    })
  }

  #setBackendEntry(userId: string, entry: PresenceEntry | undefined, seq: number, isRemoval = false): void {
    const person = this.#people.get(userId) ?? (entry && this.#add(userId))
    if (!person) return
    person.backendEntry = entry
    person.backendSeq = seq
    if (!entry && isRemoval) person.hiddenSeq = seq
    this.#broadcast.markChanged(person)
  }

  /** Loads the entries of backends. Later calls share the first load, unless it failed. */
  load(): Promise<void> {
    this.#loading ??= this.#read(undefined, (entries) => {
      for (const [userId, entry] of entries) {
        this.#setBackendEntry(userId, entry, this.#people.get(userId)?.backendSeq ?? 0)
      }
    }).catch((error: unknown) => {
      this.#loading = undefined
      this.#deps.onError(error)
      throw error
    })
    return this.#loading
  }

  /** Reads the entries of backends again, because any of them may have changed. */
  async reload(): Promise<void> {
    const seq = ++this.#seq
    await this.#read(undefined, (entries) => {
      for (const userId of new Set([...entries.keys(), ...this.#people.keys()])) {
        const entry = entries.get(userId)
        const isSame = entry?.lastUpdated === this.#people.get(userId)?.backendEntry?.lastUpdated
        if (!isSame) this.#setBackendEntry(userId, entry, seq)
      }
    }).catch(this.#deps.onError)
  }

  /** The document was deleted or moved: drops the entries of backends. */
  dropBackendEntries(): void {
    this.#generation++
    this.#loading = undefined
    for (const person of this.#people.values()) {
      person.backendEntry = undefined
      this.#broadcast.markChanged(person)
    }
  }

  subscribe(subscriber: PresenceSubscriber): void {
    this.#broadcast.subscribe(subscriber)
  }

  unsubscribe(subscriber: PresenceSubscriber): void {
    this.#broadcast.unsubscribe(subscriber)
  }

  /** Returns the list as JSON, and the ids of the users whose entries did not fit into it. */
  all(): { json: string; omittedUserIds: string[] } {
    let updates = 0
    for (const person of this.#broadcast.changed()) {
      this.#broadcast.update(person)
      if (++updates === maxUpdatesPerList) break
    }
    const users: string[] = []
    const omittedUserIds: string[] = []
    let bytes = 0
    for (const { userId, shown } of this.#people.values()) {
      if (!shown) continue
      bytes += Buffer.byteLength(shown.json)
      if (bytes <= maxListBytes) users.push(shown.json)
      else omittedUserIds.push(userId)
    }
    return { json: `[${users.join()}]`, omittedUserIds }
  }

  /** Returns the current entries of these users, as many as fit into one message. Removes those users from the set. */
  takeFields(userIds: Set<string>): string {
    const fields = new PresenceFields()
    for (const userId of userIds) {
      if (fields.isFull) break
      fields.add(userId, this.#people.get(userId))
      userIds.delete(userId)
    }
    return fields.toString()
  }

  /** When time alone may change an entry next, in epoch milliseconds. */
  get nextChangeAt(): number {
    return this.#nextChangeAt
  }

  /** Called when the document is swept: updates the entries that change by time alone. */
  sweep(now: number): void {
    if (now < this.#nextChangeAt) return
    this.#nextChangeAt = Infinity
    for (const person of this.#people.values()) {
      if (person.changesAt <= now) this.#broadcast.markChanged(person)
      else this.#nextChangeAt = Math.min(this.#nextChangeAt, person.changesAt)
    }
  }

  #add(userId: string): PresentPerson {
    const person = new PresentPerson(userId)
    this.#people.set(userId, person)
    return person
  }

  #onUpdated(person: PresentPerson): void {
    this.#shared?.update(person.userId)
    this.#nextChangeAt = Math.min(this.#nextChangeAt, person.changesAt)
    if (person.isGone) this.#people.delete(person.userId)
  }
}
