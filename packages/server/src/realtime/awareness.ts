import { isUtf8 } from 'node:buffer'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { limits } from '@plenum/protocol/realtime'
import { GoneClients } from './gone-clients.ts'
import { checkJson } from './json-scanner.ts'

/** A session that has the editor open, and whose user it is. */
export interface Owner {
  readonly sessionId: string
  readonly userId: string
  readonly email: string | undefined
  /** Whether the user may write, by the latest decision. */
  readonly isWriter: boolean
}

interface State {
  owner: Owner
  /** What its client counts, */
  ownClock: number
  /** and under which number others know it: they ignore a state that is not newer than what they know, be it removed. */
  clock: number
  /** JSON of an object. */
  json: string
}

/** All states of an editor: whoever joins is sent them at once. */
const mostBytes = 512 * 1024
/** Clients echo what they hear of others, so a message may name all of a room. */
const mostEntries = 1_000
const mostDepth = 32
/** Clients count by one; from here on we still can. */
const mostClock = 2 ** 32

/**
 * The awareness states of an editor: cursors, names, colours. Best effort and never stored. A session speaks for one Yjs
 * client, its own: what it says of others is an echo or a lie, and neither is needed.
 */
export class AwarenessStates {
  readonly #states = new Map<number, State>()
  readonly #clientOf = new Map<string, number>()
  readonly #changed = new Map<number, { clock: number; json: string }>()
  readonly #gone = new GoneClients()
  readonly #ownerOf: (client: number) => string | undefined
  #bytes = 0

  /** `ownerOf`: the user who has written with that client id, if anybody has. */
  constructor(ownerOf: (client: number) => string | undefined) {
    this.#ownerOf = ownerOf
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0
  }

  get size(): number {
    return this.#states.size
  }

  /** `renewed`: the session says again what is known of it, as clients do every 15 s. */
  receive(owner: Owner, bytes: Uint8Array): 'malformed' | 'renewed' | 'changed' {
    const entries = read(bytes)
    if (entries === undefined) return 'malformed'
    const changes = entries.filter((entry) => this.#receive(owner, entry))
    return changes.length > 0 ? 'changed' : 'renewed'
  }

  /** Whether the state is another one now. */
  #receive(owner: Owner, { client, clock, json }: Entry): boolean {
    const own = this.#clientOf.get(owner.sessionId)
    if (own !== undefined && own !== client) return false
    if (!this.#maySpeakFor(client, owner)) return false
    const known = this.#states.get(client)
    if (known && known.owner.sessionId !== owner.sessionId) {
      const isSameUser = known.owner.userId === owner.userId
      // A client that reconnects finds its state held by its dead predecessor.
      if (isSameUser && clock < known.ownClock) return false
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
    const bytes = this.#bytes - (known?.json.length ?? 0) + trueJson.length
    if (bytes > mostBytes) return false
    this.#clientOf.set(owner.sessionId, client)
    // Clients take over the number under which they hear of themselves, and some say so.
    if (known && clock === known.clock && trueJson === known.json) {
      known.ownClock = clock
      return false
    }
    const before = known?.clock ?? this.#gone.get(client)?.clock ?? -1
    const state = { owner, ownClock: clock, clock: Math.max(clock, before + 1), json: trueJson }
    this.#bytes = bytes
    this.#states.set(client, state)
    this.#gone.delete(client)
    this.#changed.set(client, state)
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
    this.#bytes -= known.json.length
    this.#states.delete(client)
    this.#clientOf.delete(sessionId)
    this.#changed.set(client, { clock, json: 'null' })
    const { userId, isWriter } = known.owner
    this.#gone.add(client, { clock, userId, isWriter })
  }

  /** What changed since the last call, as an awareness update. */
  takeChanges(): Uint8Array {
    const update = write(this.#changed)
    this.#changed.clear()
    return update
  }

  /** Everything, for a client that joins. */
  all(): Uint8Array {
    return write(this.#states)
  }
}

/** Says nothing; keeps clients from giving a quiet connection up. */
export const emptyAwareness: Uint8Array = Uint8Array.of(0)

interface Entry {
  client: number
  clock: number
  json: string
}

function read(bytes: Uint8Array): Entry[] | undefined {
  if (bytes.length > limits.awarenessBytes * 4) return undefined
  try {
    const decoder = decoding.createDecoder(bytes)
    const count = decoding.readVarUint(decoder)
    if (count > mostEntries) return undefined
    const entries: Entry[] = []
    for (let i = 0; i < count; i++) {
      const client = decoding.readVarUint(decoder)
      const clock = decoding.readVarUint(decoder)
      const json = decoding.readVarUint8Array(decoder)
      if (clock > mostClock || json.length > limits.awarenessBytes || !isUtf8(json)) return undefined
      // Clients compare states by recursion, so nesting is bounded; and they assign the keys they read.
      checkJson(json, 0, json.length, mostDepth)
      entries.push({ client, clock, json: Buffer.from(json.buffer, json.byteOffset, json.length).toString() })
    }
    return decoding.hasContent(decoder) ? undefined : entries
  } catch {
    return undefined
  }
}

/** Fields by which a state may say who its user is. What they claim is made true; names and colours are left as sent. */
function withTrueIdentity(json: string, { userId, email }: Owner): string {
  if (!identityHints.test(json)) return json
  const state = JSON.parse(json) as Record<string, unknown>
  const correct = (claim: Record<string, unknown>, keys: readonly string[]) => {
    for (const key of keys) if (Object.hasOwn(claim, key)) claim[key] = userId
    if (Object.hasOwn(claim, 'email')) claim.email = email ?? null
  }
  correct(state, ['userId'])
  const { user } = state
  if (typeof user === 'object' && user !== null) correct(user as Record<string, unknown>, ['id', 'userId'])
  return JSON.stringify(state)
}

const identityHints = /"(?:id|userId|email)"|\\u/

function write(states: ReadonlyMap<number, { clock: number; json: string }>): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, states.size)
  for (const [client, { clock, json }] of states) {
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, clock)
    encoding.writeVarString(encoder, json)
  }
  return encoding.toUint8Array(encoder)
}
