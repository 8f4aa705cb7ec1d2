import type { BytePace } from '../../../platform/turns/byte-pace.ts'
import { type AwarenessEntry, readAwareness, withTrueIdentity, writeAwareness } from './awareness-update.ts'
import { GoneClients } from './gone-clients.ts'

/** A session that has the editor open, with its user. */
export interface AwarenessOwner {
  readonly sessionId: string
  readonly userId: string
  readonly email: string | undefined
  /** Whether the user may write, by the latest authorization. */
  readonly isWriter: boolean
  /** Limits the rate at which its state is broadcast. */
  readonly pace: BytePace
  /** Reports the size of its state. False if the connection has no room for it. */
  keep(bytes: number): boolean
}

interface State {
  owner: AwarenessOwner
  /** The clock that its client sent. */
  ownClock: number
  /** The clock that is broadcast. Others ignore a state whose clock is not above the last one, even after a removal. */
  clock: number
  /** JSON of an object. */
  json: string
  /** The size of the JSON. */
  bytes: number
}

/** A message of this size takes no more states. */
const maxPartBytes = 64 * 1024
/** The bytes of an entry beside its state. */
const entryOverheadBytes = 16

/** The states in one message. */
interface Part {
  clients: number[]
  update: Uint8Array
  /** The time until the next skipped change may be sent. */
  waitMs: number
}

/**
 * The awareness states of an editor: cursors, names, colours. Best effort and never stored. A session sets the state of one
 * Yjs client, its own. States of other clients in its messages are echoes or forgeries, and are ignored.
 */
export class AwarenessStates {
  readonly #states = new Map<number, State>()
  readonly #clientOf = new Map<string, number>()
  /** Clients whose change has not been broadcast. */
  readonly #changed = new Set<number>()
  readonly #gone = new GoneClients()
  readonly #ownerOf: (client: number) => string | undefined

  /** `ownerOf`: the user who has written with the client id, or undefined. */
  constructor(ownerOf: (client: number) => string | undefined) {
    this.#ownerOf = ownerOf
  }

  /** How many changes wait to be broadcast. */
  get changes(): number {
    return this.#changed.size
  }

  /** The clients that have a state. */
  get clients(): Iterable<number> {
    return this.#states.keys()
  }

  /** `renewed`: the state is unchanged. Clients repeat it every 15 s. */
  receive(owner: AwarenessOwner, bytes: Uint8Array): 'malformed' | 'tooLarge' | 'renewed' | 'changed' {
    const own = this.#clientOf.get(owner.sessionId)
    const isWanted = (client: number) => (own === undefined ? this.#mayUse(client, owner) : own === client)
    const entries = readAwareness(bytes, isWanted)
    if (typeof entries === 'string') return entries
    const changes = entries.filter((entry) => this.#receive(owner, entry))
    return changes.length > 0 ? 'changed' : 'renewed'
  }

  /** Whether the state has changed. */
  #receive(owner: AwarenessOwner, { client, clock, json }: AwarenessEntry): boolean {
    const own = this.#clientOf.get(owner.sessionId)
    if (own !== undefined && own !== client) return false
    if (!this.#mayUse(client, owner)) return false
    const known = this.#states.get(client)
    if (known && known.owner.sessionId !== owner.sessionId) {
      const isSameUser = known.owner.userId === owner.userId
      // A client that reconnects finds its state owned by its dead session.
      if (isSameUser && clock < known.ownClock) return false
      known.owner.keep(0)
      this.#clientOf.delete(known.owner.sessionId)
      this.#clientOf.set(owner.sessionId, client)
      known.owner = owner
      // The clock of another user does not apply to this client.
      if (!isSameUser) known.ownClock = -1
    }
    const isRemoval = json === 'null'
    if (known && clock <= known.ownClock && !(isRemoval && clock === known.ownClock)) return false
    if (isRemoval) {
      if (known) this.#remove(client, owner.sessionId, Math.max(clock, known.clock))
      return known !== undefined
    }
    if (!json.trimStart().startsWith('{')) return false
    const trueJson = withTrueIdentity(json, owner)
    const bytes = Buffer.byteLength(trueJson)
    if (!owner.keep(bytes)) return false
    this.#clientOf.set(owner.sessionId, client)
    // Clients adopt the clock that is broadcast for them, and some send it back.
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

  /**
   * An owned client id belongs to its owner. Otherwise the user who uses it, or used it last, keeps it; but a user who may
   * write takes it from one who may not.
   */
  #mayUse(client: number, { userId, isWriter }: AwarenessOwner): boolean {
    const ownerId = this.#ownerOf(client)
    if (ownerId !== undefined) return ownerId === userId
    const holder = this.#states.get(client)?.owner ?? this.#gone.get(client)
    return !holder || holder.userId === userId || (isWriter && !holder.isWriter)
  }

  /** Call it when a client id gets an owner. Removes the state that another user set for it. */
  onOwned(client: number, userId: string): void {
    const known = this.#states.get(client)
    if (known && known.owner.userId !== userId) this.#remove(client, known.owner.sessionId, known.clock)
  }

  leave(sessionId: string): void {
    const client = this.#clientOf.get(sessionId)
    const known = client === undefined ? undefined : this.#states.get(client)
    if (client === undefined || known === undefined) return
    // With the same clock, as Yjs clients remove others.
    this.#remove(client, sessionId, known.clock)
  }

  #remove(client: number, sessionId: string, clock: number): void {
    const known = this.#states.get(client)
    if (!known) return
    this.#states.delete(client)
    this.#clientOf.delete(sessionId)
    this.#changed.add(client)
    known.owner.keep(0)
    const { userId, isWriter } = known.owner
    this.#gone.add(client, { clock, userId, isWriter })
  }

  /** Takes the changes that may be sent now and fit into one message. Those of editors come first, before viewers. */
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

  /** The current states of these clients, as many as fit into one message. Removes them from the set. */
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
      // The clock of a client that left long ago is unknown. Other clients time it out themselves.
      const clock = state?.clock ?? this.#gone.get(client)?.clock
      if (clock === undefined) continue
      entries.push({ client, clock, json: state?.json ?? 'null' })
      bytes += (state?.bytes ?? 0) + entryOverheadBytes
    }
    return { clients, update: writeAwareness(entries) }
  }
}
