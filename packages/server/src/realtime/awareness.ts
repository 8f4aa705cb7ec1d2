import { isUtf8 } from 'node:buffer'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { limits } from '@plenum/protocol/realtime'
import { checkJson } from './json-scanner.ts'

/** What may be known of a client beside its own words. */
export interface Owner {
  readonly sessionId: string
  readonly userId: string
  readonly email: string | undefined
}

interface State {
  owner: Owner
  clock: number
  /** JSON of an object. */
  json: string
}

/** Clients echo what they hear of others, so a message may name all of a room. */
const mostEntries = 1_000
const mostDepth = 32

/**
 * The awareness states of an editor: cursors, names, colours. Best effort and never stored. A session speaks for one Yjs
 * client, its own: what it says of others is an echo or a lie, and neither is needed.
 */
export class AwarenessStates {
  readonly #states = new Map<number, State>()
  readonly #clientOf = new Map<string, number>()
  readonly #changed = new Map<number, { clock: number; json: string }>()

  get hasChanges(): boolean {
    return this.#changed.size > 0
  }

  get size(): number {
    return this.#states.size
  }

  /** False if the bytes are no awareness update. */
  receive(owner: Owner, bytes: Uint8Array): boolean {
    const entries = read(bytes)
    if (entries === undefined) return false
    for (const entry of entries) this.#receive(owner, entry)
    return true
  }

  #receive(owner: Owner, { client, clock, json }: Entry): void {
    const known = this.#states.get(client)
    const own = this.#clientOf.get(owner.sessionId)
    if (own !== undefined && own !== client) return
    if (known && known.owner.sessionId !== owner.sessionId) {
      // A client that reconnects finds its state held by its dead predecessor. Another user never takes it.
      if (known.owner.userId !== owner.userId || clock < known.clock) return
      this.#clientOf.delete(known.owner.sessionId)
      this.#clientOf.set(owner.sessionId, client)
      known.owner = owner
    }
    const isRemoval = json === 'null'
    if (known && clock <= known.clock && !(isRemoval && clock === known.clock)) return
    if (isRemoval) {
      if (known) this.#forget(client, owner.sessionId, clock)
      return
    }
    if (!json.trimStart().startsWith('{')) return
    this.#clientOf.set(owner.sessionId, client)
    const state = { owner, clock, json: withTrueIdentity(json, owner) }
    this.#states.set(client, state)
    this.#changed.set(client, state)
  }

  /** Whether a Yjs client is that of a live session of somebody else. */
  isForeign(client: number, userId: string): boolean {
    const owner = this.#states.get(client)?.owner
    return owner !== undefined && owner.userId !== userId
  }

  leave(sessionId: string): void {
    const client = this.#clientOf.get(sessionId)
    const known = client === undefined ? undefined : this.#states.get(client)
    if (client === undefined || known === undefined) return
    // With the same clock, as Yjs clients do for others: the client's own next word counts again.
    this.#forget(client, sessionId, known.clock)
  }

  #forget(client: number, sessionId: string, clock: number): void {
    this.#states.delete(client)
    this.#clientOf.delete(sessionId)
    this.#changed.set(client, { clock, json: 'null' })
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
      if (json.length > limits.awarenessBytes || !isUtf8(json)) return undefined
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
