import type { ServerId } from '../../../peers/peers.ts'
import { LazyMap, LazySet } from '../../../platform/lazy-collections.ts'
import type { BytePace } from '../../../platform/turns/byte-pace.ts'
import { type AwarenessEntry, readAwareness, withTrueIdentity, writeAwareness } from './awareness-update.ts'
import { GoneClients } from './gone-clients.ts'
import { ReservedClientIds, type ReservedIdsOfEditor } from './reserved-client-ids.ts'

/** A session that has the editor open, here or on another server. It owns the awareness state that it sets. */
export interface AwarenessOwner {
  readonly sessionId: string
  /** The other server of the session. */
  readonly server?: ServerId
  /** When the session opened the editor, on the clock `performance.now`. */
  readonly openedAt: number
  readonly userId: string
  readonly email: string | undefined
  /** Whether the latest decision about the user's access allows writing, even if that decision is stale. */
  readonly hasWriteRole: boolean
  /** Limits the rate at which the session's state is broadcast. */
  readonly pace: BytePace
  /** Reserves memory for the session's state, in place of the last reservation. Returns false if the connection has no space. */
  tryReserve(bytes: number): boolean
}

export interface AwarenessState {
  owner: AwarenessOwner
  /** The clock that the client sent. */
  ownClock: number
  /** The clock that is broadcast. Other clients ignore a state unless its clock is above the last, even after a removal. */
  clock: number
  /** JSON of an object. */
  json: string
  /** The size of the JSON. */
  bytes: number
}

/** No more states are added to a message of this size. */
const maxPartBytes = 64 * 1024
/** The bytes of an entry besides its state. */
const entryOverheadBytes = 16

/** The states in one message. */
interface Part {
  clientIds: number[]
  update: Uint8Array
  /** The time until the next waiting change may be sent. */
  waitMs: number
}

/**
 * The awareness states of an editor: cursors, names, colours. They are delivered with best effort and never stored. A session
 * sets the state of one Yjs client id, its own. States of other ids in its messages are echoes or forgeries, and are ignored.
 */
export class AwarenessStates {
  readonly #states = new LazyMap<number, AwarenessState>()
  readonly #clientIdOf = new LazyMap<string, number>()
  /** Yjs client ids whose latest change has not been broadcast. */
  readonly #changed = new LazySet<number>()
  readonly #gone = new GoneClients()
  readonly #ownerOf: (clientId: number) => string | undefined
  readonly #reserved: ReservedIdsOfEditor

  /** `ownerOf` returns the user who has written with a Yjs client id, or undefined. */
  constructor(
    ownerOf: (clientId: number) => string | undefined,
    reserved: ReservedIdsOfEditor = new ReservedClientIds().of(''),
  ) {
    this.#ownerOf = ownerOf
    this.#reserved = reserved
  }

  /** How many changes wait to be broadcast. */
  get changeCount(): number {
    return this.#changed.size
  }

  /** The Yjs client ids that have a state. */
  get clientIds(): Iterable<number> {
    return this.#states.keys()
  }

  /** The Yjs client id whose state the session has set. */
  clientIdOf(sessionId: string): number | undefined {
    return this.#clientIdOf.get(sessionId)
  }

  /** The state of a Yjs client id that a session of this server has set. */
  ownState(clientId: number): AwarenessState | undefined {
    const state = this.#states.get(clientId)
    return state?.owner.server === undefined ? state : undefined
  }

  /** The pace of the session on that other server, if the Yjs client id has its state. */
  paceOf(clientId: number, server: ServerId): BytePace | undefined {
    const owner = this.#states.get(clientId)?.owner
    return owner?.server === server ? owner.pace : undefined
  }

  /** Sets the state of a session of another server, which has checked it. `clock` is the clock that it broadcasts. */
  receiveFromServer(owner: AwarenessOwner, entry: AwarenessEntry, clock: number): void {
    this.#receive(owner, entry, clock)
  }

  /** Sets the session's state. Returns `renewed` if the state is unchanged: clients repeat it every 15 s. */
  receive(owner: AwarenessOwner, bytes: Uint8Array): 'malformed' | 'tooLarge' | 'renewed' | 'changed' {
    const own = this.#clientIdOf.get(owner.sessionId)
    const isWanted = (clientId: number) =>
      own === undefined ? this.#mayUse(clientId, owner) : own === clientId
    const entries = readAwareness(bytes, isWanted)
    if (typeof entries === 'string') return entries
    const changes = entries.filter((entry) => this.#receive(owner, entry))
    return changes.length > 0 ? 'changed' : 'renewed'
  }

  /** Returns whether the state has changed. */
  #receive(owner: AwarenessOwner, { clientId, clock, json }: AwarenessEntry, minClock = 0): boolean {
    const own = this.#clientIdOf.get(owner.sessionId)
    if (own !== undefined && own !== clientId) return false
    if (!this.#mayUse(clientId, owner)) return false
    const known = this.#states.get(clientId)
    if (known && known.owner.sessionId !== owner.sessionId) {
      const isSameUser = known.owner.userId === owner.userId
      // A client that reconnects, here or to another server, takes its state over from its dead session.
      if (isSameUser && isOlder({ ownClock: clock, owner }, known)) return false
      // The other servers must know whose state it is now.
      if (known.owner.server !== owner.server) this.#changed.add(clientId)
      known.owner.tryReserve(0)
      this.#clientIdOf.delete(known.owner.sessionId)
      this.#clientIdOf.set(owner.sessionId, clientId)
      // The clock that another user sent does not apply to this session.
      if (!isSameUser) known.ownClock = -1
    }
    // The role of a session of another server may have changed.
    if (known) known.owner = owner
    const isRemoval = json === 'null'
    if (known && clock <= known.ownClock && !(isRemoval && clock === known.ownClock)) return false
    if (isRemoval) {
      if (known) this.#remove(clientId, owner.sessionId, Math.max(clock, known.clock))
      this.#reserved.release(clientId)
      return known !== undefined
    }
    if (!json.trimStart().startsWith('{')) return false
    const trueJson = withTrueIdentity(json, owner)
    const bytes = Buffer.byteLength(trueJson)
    if (!owner.tryReserve(bytes)) return false
    this.#clientIdOf.set(owner.sessionId, clientId)
    // Clients adopt the clock that is broadcast for their id, and some clients send it back.
    if (known && clock === known.clock && trueJson === known.json) {
      known.ownClock = clock
      return false
    }
    const before = known?.clock ?? this.#gone.get(clientId)?.clock ?? -1
    const state = {
      owner,
      ownClock: clock,
      clock: Math.max(clock, minClock, before + 1),
      json: trueJson,
      bytes,
    }
    this.#states.set(clientId, state)
    this.#gone.delete(clientId)
    this.#changed.add(clientId)
    return trueJson !== known?.json
  }

  /**
   * Whether the user may set the state of the id. An id with which updates were written belongs to its owner. Any other id
   * belongs to the user who uses it, or used it last, but a user who may write takes it over from a user who may not.
   */
  #mayUse(clientId: number, { userId, hasWriteRole }: AwarenessOwner): boolean {
    const ownerId = this.#ownerOf(clientId)
    if (ownerId !== undefined) return ownerId === userId
    const reservedFor = this.#reserved.userOf(clientId)
    if (reservedFor !== undefined) return reservedFor === userId
    const holder = this.#states.get(clientId)?.owner ?? this.#gone.get(clientId)
    return !holder || holder.userId === userId || (hasWriteRole && !holder.hasWriteRole)
  }

  /**
   * Whether the user may write with the id: it is the user's own, or nobody's. An editor uses its id in awareness before it
   * writes, and may write when it has connected again.
   */
  mayWrite(clientId: number, userId: string): boolean {
    const ownerId = this.#ownerOf(clientId)
    if (ownerId !== undefined) return ownerId === userId
    const holder = this.#states.get(clientId)?.owner
    if (holder?.hasWriteRole) return holder.userId === userId
    const reservedFor = this.#reserved.userOf(clientId)
    return reservedFor === undefined || reservedFor === userId
  }

  /** Call it when a Yjs client id gets an owner. Removes the state that another user set for the id. */
  onOwned(clientId: number, userId: string): void {
    this.#reserved.release(clientId)
    const known = this.#states.get(clientId)
    if (known && known.owner.userId !== userId) this.#remove(clientId, known.owner.sessionId, known.clock)
  }

  leave(sessionId: string): void {
    const clientId = this.#clientIdOf.get(sessionId)
    const known = clientId === undefined ? undefined : this.#states.get(clientId)
    if (clientId === undefined || known === undefined) return
    const { server, userId, hasWriteRole } = known.owner
    // A client that closes removes its state itself. This one may come back with what its user has typed.
    const mayComeBack = server === undefined && hasWriteRole && this.#ownerOf(clientId) === undefined
    if (mayComeBack) this.#reserved.reserve(clientId, userId)
    // With the same clock, as Yjs clients do when they remove another client.
    this.#remove(clientId, sessionId, known.clock)
  }

  #remove(clientId: number, sessionId: string, clock: number): void {
    const known = this.#states.get(clientId)
    if (!known) return
    this.#states.delete(clientId)
    this.#clientIdOf.delete(sessionId)
    this.#changed.add(clientId)
    known.owner.tryReserve(0)
    const { userId, hasWriteRole } = known.owner
    this.#gone.add(clientId, { clock, userId, hasWriteRole })
  }

  /** Takes the changes that may be sent now and fit into one message. Users who may write come before viewers. */
  takeChanges(): Part {
    const now = performance.now()
    let waitMs = Infinity
    const ready: number[] = []
    const readyOfViewers: number[] = []
    for (const clientId of this.#changed) {
      const owner = this.#states.get(clientId)?.owner
      const wait = owner?.pace.waitMs(now) ?? 0
      waitMs = Math.min(waitMs, wait)
      if (wait === 0) (owner?.hasWriteRole === false ? readyOfViewers : ready).push(clientId)
    }
    const part = this.#take([...ready, ...readyOfViewers])
    for (const clientId of part.clientIds) {
      this.#changed.delete(clientId)
      const state = this.#states.get(clientId)
      state?.owner.pace.spend(state.bytes, now)
    }
    return { ...part, waitMs }
  }

  /** Returns the current states of these ids, as many as fit into one message. Removes those ids from the set. */
  takeStates(clientIds: Set<number>): Uint8Array {
    const part = this.#take(clientIds)
    for (const clientId of part.clientIds) clientIds.delete(clientId)
    return part.update
  }

  #take(from: Iterable<number>): Omit<Part, 'waitMs'> {
    const clientIds: number[] = []
    const entries: AwarenessEntry[] = []
    let bytes = 0
    for (const clientId of from) {
      if (bytes >= maxPartBytes) break
      clientIds.push(clientId)
      const state = this.#states.get(clientId)
      // The clock of an id that left long ago is unknown. Other clients remove its state themselves after a timeout.
      const clock = state?.clock ?? this.#gone.get(clientId)?.clock
      if (clock === undefined) continue
      entries.push({ clientId, clock, json: state?.json ?? 'null' })
      bytes += (state?.bytes ?? 0) + entryOverheadBytes
    }
    return { clientIds, update: writeAwareness(entries) }
  }
}

/** Whether the first state is older than the second one of the same client. */
const isOlder = (one: Pick<AwarenessState, 'ownClock' | 'owner'>, other: AwarenessState) =>
  one.ownClock < other.ownClock ||
  (one.ownClock === other.ownClock && one.owner.openedAt < other.owner.openedAt)
