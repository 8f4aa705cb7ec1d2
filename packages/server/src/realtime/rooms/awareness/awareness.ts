import type { BytePace } from '../../../platform/turns/byte-pace.ts'
import { type AwarenessEntry, readAwareness, withTrueIdentity, writeAwareness } from './awareness-update.ts'
import { GoneClients } from './gone-clients.ts'

/** A session that has the editor open, and whose user it is. */
export interface Owner {
  readonly sessionId: string
  readonly userId: string
  readonly email: string | undefined
  /** Whether the user may write, by the latest decision. */
  readonly isWriter: boolean
  /** Bounds what its state makes everyone in the editor receive. */
  readonly pace: BytePace
  /** Says how large its state is; false if the connection has no room for it. */
  keep(bytes: number): boolean
}

interface State {
  owner: Owner
  /** What its client counts, */
  ownClock: number
  /** and under which number others know it: they ignore a state that is not newer than what they know, be it removed. */
  clock: number
  /** JSON of an object. */
  json: string
  /** Of the JSON. */
  bytes: number
}

/** From that size on a message takes no more states. */
const maxPartBytes = 64 * 1024
/** What is around a state. */
const bytesAround = 16

/** States that are sent in one message. */
interface Part {
  clients: number[]
  update: Uint8Array
  /** How long it takes until a change that was left out may be sent. */
  waitMs: number
}

/**
 * The awareness states of an editor: cursors, names, colours. Best effort and never stored. A session speaks for one Yjs
 * client, its own: what it says of others is an echo or a lie, and neither is needed.
 */
export class AwarenessStates {
  readonly #states = new Map<number, State>()
  readonly #clientOf = new Map<string, number>()
  /** Clients whose change was not sent yet. */
  readonly #changed = new Set<number>()
  readonly #gone = new GoneClients()
  readonly #ownerOf: (client: number) => string | undefined

  /** `ownerOf`: the user who has written with that client id, if anybody has. */
  constructor(ownerOf: (client: number) => string | undefined) {
    this.#ownerOf = ownerOf
  }

  /** How many changes wait to be sent. */
  get changes(): number {
    return this.#changed.size
  }

  /** Those who have a state. */
  get clients(): Iterable<number> {
    return this.#states.keys()
  }

  /** `renewed`: the session says again what is known of it, as clients do every 15 s. */
  receive(owner: Owner, bytes: Uint8Array): 'malformed' | 'tooLarge' | 'renewed' | 'changed' {
    const own = this.#clientOf.get(owner.sessionId)
    const isWanted = (client: number) =>
      own === undefined ? this.#maySpeakFor(client, owner) : own === client
    const entries = readAwareness(bytes, isWanted)
    if (typeof entries === 'string') return entries
    const changes = entries.filter((entry) => this.#receive(owner, entry))
    return changes.length > 0 ? 'changed' : 'renewed'
  }

  /** Whether the state is another one now. */
  #receive(owner: Owner, { client, clock, json }: AwarenessEntry): boolean {
    const own = this.#clientOf.get(owner.sessionId)
    if (own !== undefined && own !== client) return false
    if (!this.#maySpeakFor(client, owner)) return false
    const known = this.#states.get(client)
    if (known && known.owner.sessionId !== owner.sessionId) {
      const isSameUser = known.owner.userId === owner.userId
      // A client that reconnects finds its state held by its dead predecessor.
      if (isSameUser && clock < known.ownClock) return false
      known.owner.keep(0)
      this.#clientOf.delete(known.owner.sessionId)
      this.#clientOf.set(owner.sessionId, client)
      known.owner = owner
      // The clock of another user says nothing of this client.
      if (!isSameUser) known.ownClock = -1
    }
    const isRemoval = json === 'null'
    if (known && clock <= known.ownClock && !(isRemoval && clock === known.ownClock)) return false
    if (isRemoval) {
      if (known) this.#forget(client, owner.sessionId, Math.max(clock, known.clock))
      return known !== undefined
    }
    if (!json.trimStart().startsWith('{')) return false
    const trueJson = withTrueIdentity(json, owner)
    const bytes = Buffer.byteLength(trueJson)
    if (!owner.keep(bytes)) return false
    this.#clientOf.set(owner.sessionId, client)
    // Clients take over the number under which they hear of themselves, and some say so.
    if (known && clock === known.clock && trueJson === known.json) {
      known.ownClock = clock
      return false
    }
    const before = known?.clock ?? this.#gone.get(client)?.clock ?? -1
    const state = { owner, ownClock: clock, clock: Math.max(clock, before + 1), json: trueJson, bytes }
    this.#states.set(client, state)
    this.#gone.delete(client)
    this.#changed.add(client)
    return trueJson !== known?.json
  }

  /** The owner of a client id, else whoever uses it or used it last. An editor takes an id from a viewer, not the reverse. */
  #maySpeakFor(client: number, { userId, isWriter }: Owner): boolean {
    const ownerId = this.#ownerOf(client)
    if (ownerId !== undefined) return ownerId === userId
    const holder = this.#states.get(client)?.owner ?? this.#gone.get(client)
    return !holder || holder.userId === userId || (isWriter && !holder.isWriter)
  }

  /** A client id has an owner now: removes what another user said in its name. */
  owned(client: number, userId: string): void {
    const known = this.#states.get(client)
    if (known && known.owner.userId !== userId) this.#forget(client, known.owner.sessionId, known.clock)
  }

  leave(sessionId: string): void {
    const client = this.#clientOf.get(sessionId)
    const known = client === undefined ? undefined : this.#states.get(client)
    if (client === undefined || known === undefined) return
    // With the same clock, as Yjs clients do for others.
    this.#forget(client, sessionId, known.clock)
  }

  #forget(client: number, sessionId: string, clock: number): void {
    const known = this.#states.get(client)
    if (!known) return
    this.#states.delete(client)
    this.#clientOf.delete(sessionId)
    this.#changed.add(client)
    known.owner.keep(0)
    const { userId, isWriter } = known.owner
    this.#gone.add(client, { clock, userId, isWriter })
  }

  /** What has changed and may be sent now, as much as one message holds. Editors come first: viewers cannot delay them. */
  takeChanges(): Part {
    const now = performance.now()
    let waitMs = Infinity
    const ready: number[] = []
    const readyOfViewers: number[] = []
    for (const client of this.#changed) {
      const owner = this.#states.get(client)?.owner
      const wait = owner?.pace.waitMs(now) ?? 0
      waitMs = Math.min(waitMs, wait)
      if (wait === 0) (owner?.isWriter === false ? readyOfViewers : ready).push(client)
    }
    const part = this.#take([...ready, ...readyOfViewers])
    for (const client of part.clients) {
      this.#changed.delete(client)
      const state = this.#states.get(client)
      state?.owner.pace.spend(state.bytes, now)
    }
    return { ...part, waitMs }
  }

  /** The states of these clients as they are now, as many as one message holds; takes those out. */
  takeStates(clients: Set<number>): Uint8Array {
    const part = this.#take(clients)
    for (const client of part.clients) clients.delete(client)
    return part.update
  }

  #take(from: Iterable<number>): Omit<Part, 'waitMs'> {
    const clients: number[] = []
    const entries: AwarenessEntry[] = []
    let bytes = 0
    for (const client of from) {
      if (bytes >= maxPartBytes) break
      clients.push(client)
      const state = this.#states.get(client)
      // Of a client that is forgotten nothing can be said; others give it up by themselves.
      const clock = state?.clock ?? this.#gone.get(client)?.clock
      if (clock === undefined) continue
      entries.push({ client, clock, json: state?.json ?? 'null' })
      bytes += (state?.bytes ?? 0) + bytesAround
    }
    return { clients, update: writeAwareness(entries) }
  }
}
