import type { OnlineStatus } from '@plenum/protocol/realtime'
import type { Present } from '../../store/documents/presence.ts'
import { Turns } from '../../store/engine/turns.ts'
import { PresenceBroadcast, type PresenceSubscriber } from './presence-broadcast.ts'
import { PresenceFields } from './presence-fields.ts'
import { type Known, type PresentClient, PresentPerson } from './present-person.ts'

export interface PresenceParts {
  now: () => number
  /** The entries that backends keep: of these users, or all. */
  read: (userIds?: readonly string[]) => Promise<Present[]>
  failed: (error: unknown) => void
  /** Does one step after the other, in turns with other work. */
  run: (steps: Iterator<unknown>) => void
}

/** What a client says of itself; what is undefined stays as it is. */
export interface OwnPresence {
  status: OnlineStatus | undefined
  /** JSON of an object; null removes it. */
  data: string | null | undefined
}

/** What a client is sent at once when it opens the document; the rest of the list follows. */
const maxListBytes = 1024 * 1024
/** Changes that were not told yet and are looked at for somebody who opens the document. */
const maxLooks = 200

/** Who is in an open document: the users of all clients, in whatever dialect, and those that backends add. Never stored. */
export class LivePresence {
  readonly #parts: PresenceParts
  readonly #people = new Map<string, PresentPerson>()
  readonly #clients = new Map<Known, PresentClient>()
  readonly #broadcast: PresenceBroadcast
  #loading: Promise<void> | undefined
  readonly #reads = new Turns()
  #words = 0
  /** Counts the documents that there were under this id: what was being read of an earlier one is of no use. */
  #documents = 0
  #nextChangeAt = Infinity

  constructor(parts: PresenceParts) {
    this.#parts = parts
    const { now, run } = parts
    this.#broadcast = new PresenceBroadcast({ now, run, looked: (person) => this.#looked(person) })
  }

  enter(of: Known, tellsIdleness: boolean): void {
    const { userId } = of.identity
    const person = this.#people.get(userId) ?? this.#add(userId)
    const word = ++this.#words
    const now = this.#parts.now()
    const client: PresentClient = {
      person,
      of,
      tellsIdleness,
      status: 'online',
      data: undefined,
      activeWord: word,
      activeAt: now,
      heardWord: word,
      heardAt: now,
    }
    person.clients.add(client)
    this.#clients.set(of, client)
    this.#change(person)
  }

  leave(of: Known): void {
    const client = this.#clients.get(of)
    if (!client) return
    this.#clients.delete(of)
    client.person.clients.delete(client)
    this.#change(client.person)
  }

  /** The user has just done something. */
  active(of: Known): void {
    const client = this.#clients.get(of)
    if (!client) return
    this.#hear(client)
    client.activeWord = client.heardWord
    client.activeAt = client.heardAt
    const { shown } = client.person
    if (shown?.lead !== client || shown.status !== 'online') this.#change(client.person)
  }

  /** The client is there, whatever its user does. */
  heard(of: Known): void {
    const client = this.#clients.get(of)
    if (!client) return
    this.#hear(client)
    const { shown } = client.person
    if (!shown?.lead || shown.status !== 'online') this.#change(client.person)
  }

  #hear(client: PresentClient): void {
    client.heardWord = ++this.#words
    client.heardAt = this.#parts.now()
  }

  set(of: Known, { status, data }: OwnPresence): void {
    const client = this.#clients.get(of)
    if (!client) return
    if (status !== undefined) client.status = status
    if (data !== undefined) client.data = data ?? undefined
    this.active(of)
    this.#change(client.person)
  }

  /** There is another token, which may have another name. */
  renewed(of: Known): void {
    const client = this.#clients.get(of)
    if (client) this.#change(client.person)
  }

  /** Backends have changed the entries of these users, or `removed` them from the list. */
  async told(userIds: readonly string[], removed: boolean): Promise<void> {
    const word = ++this.#words
    await this.#read(userIds, (entries) => {
      for (const userId of userIds) this.#setRest(userId, entries.get(userId), word, removed)
    }).catch(this.#parts.failed)
  }

  /** One after the other: what is read later is newer. */
  #read(
    userIds: readonly string[] | undefined,
    take: (entries: Map<string, Present>) => void,
  ): Promise<void> {
    const documents = this.#documents
    return this.#reads.take(async () => {
      const entries = await this.#parts.read(userIds)
      if (documents === this.#documents) take(new Map(entries.map((entry) => [entry.userId, entry])))
    })
  }

  #setRest(userId: string, entry: Present | undefined, word: number, removed = false): void {
    const person = this.#people.get(userId) ?? (entry && this.#add(userId))
    if (!person) return
    person.rest = entry
    person.restWord = word
    if (!entry && removed) person.hiddenWord = word
    this.#change(person)
  }

  /** The entries of backends are known afterwards. */
  load(): Promise<void> {
    this.#loading ??= this.#read(undefined, (entries) => {
      for (const [userId, entry] of entries) {
        this.#setRest(userId, entry, this.#people.get(userId)?.restWord ?? 0)
      }
    }).catch((error: unknown) => {
      this.#loading = undefined
      this.#parts.failed(error)
      throw error
    })
    return this.#loading
  }

  /** The entries of backends may all be different. */
  async reload(): Promise<void> {
    const word = ++this.#words
    await this.#read(undefined, (entries) => {
      for (const userId of new Set([...entries.keys(), ...this.#people.keys()])) {
        const entry = entries.get(userId)
        const isSame = entry?.lastUpdated === this.#people.get(userId)?.rest?.lastUpdated
        if (!isSame) this.#setRest(userId, entry, word)
      }
    }).catch(this.#parts.failed)
  }

  /** What backends said was about a document that is gone. */
  forget(): void {
    this.#documents++
    this.#loading = undefined
    for (const person of this.#people.values()) {
      person.rest = undefined
      this.#change(person)
    }
  }

  subscribe(subscriber: PresenceSubscriber): void {
    this.#broadcast.subscribe(subscriber)
  }

  unsubscribe(subscriber: PresenceSubscriber): void {
    this.#broadcast.unsubscribe(subscriber)
  }

  /** Everybody, as JSON; `rest` are the users for whom there was no room. */
  all(): { json: string; rest: string[] } {
    let looks = 0
    for (const person of this.#broadcast.waiting()) {
      this.#broadcast.update(person)
      if (++looks === maxLooks) break
    }
    const users: string[] = []
    const rest: string[] = []
    let bytes = 0
    for (const { userId, shown } of this.#people.values()) {
      if (!shown) continue
      bytes += Buffer.byteLength(shown.json)
      if (bytes <= maxListBytes) users.push(shown.json)
      else rest.push(userId)
    }
    return { json: `[${users.join()}]`, rest }
  }

  /** As many of these users as one message holds, as they are shown now; takes them out. */
  takeFields(userIds: Set<string>): string {
    const fields = new PresenceFields()
    for (const userId of userIds) {
      if (fields.isFull) break
      fields.add(userId, this.#people.get(userId))
      userIds.delete(userId)
    }
    return fields.toString()
  }

  /** Called every now and then: time may have changed something. */
  sweep(now: number): void {
    if (now < this.#nextChangeAt) return
    this.#nextChangeAt = Infinity
    for (const person of this.#people.values()) {
      if (person.changesAt <= now) this.#change(person)
      else this.#nextChangeAt = Math.min(this.#nextChangeAt, person.changesAt)
    }
  }

  #add(userId: string): PresentPerson {
    const person = new PresentPerson(userId)
    this.#people.set(userId, person)
    return person
  }

  #change(person: PresentPerson): void {
    this.#broadcast.changed(person)
  }

  #looked(person: PresentPerson): void {
    this.#nextChangeAt = Math.min(this.#nextChangeAt, person.changesAt)
    if (person.isNobody) this.#people.delete(person.userId)
  }
}
