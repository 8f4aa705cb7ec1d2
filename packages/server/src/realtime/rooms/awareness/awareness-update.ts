import { isUtf8 } from 'node:buffer'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { limits } from '@plenum/protocol/realtime'
import { checkJson } from '../../../platform/json/json-scanner.ts'

/** The state of one Yjs client id in an awareness update of y-protocols. */
export interface AwarenessEntry {
  clientId: number
  clock: number
  /** The state, or `null` if the client left. */
  json: string
}

/** Clients echo the states of other clients, so a client's message can be as large as one of the server. */
const maxBytes = 256 * 1024
const maxEntries = 1_000
const maxDepth = 32
/** Upper bound that leaves room to increment. */
const maxClock = 2 ** 32

/** Reads the entries of wanted Yjs client ids, and skips the other entries. */
export function readAwareness(
  bytes: Uint8Array,
  isWanted: (clientId: number) => boolean,
): AwarenessEntry[] | 'malformed' | 'tooLarge' {
  if (bytes.length > maxBytes) return 'malformed'
  try {
    const decoder = decoding.createDecoder(bytes)
    const count = decoding.readVarUint(decoder)
    if (count > maxEntries) return 'malformed'
    const entries: AwarenessEntry[] = []
    for (let i = 0; i < count; i++) {
      const clientId = decoding.readVarUint(decoder)
      const clock = decoding.readVarUint(decoder)
      const json = decoding.readVarUint8Array(decoder)
      if (!isWanted(clientId)) continue
      if (json.length > limits.awarenessBytes) return 'tooLarge'
      if (clock > maxClock || !isUtf8(json)) return 'malformed'
      // Clients compare states by recursion, so nesting is limited. Clients also assign keys, so `__proto__` is refused.
      checkJson(json, 0, json.length, { depth: maxDepth })
      entries.push({
        clientId,
        clock,
        json: Buffer.from(json.buffer, json.byteOffset, json.length).toString(),
      })
    }
    return decoding.hasContent(decoder) ? 'malformed' : entries
  } catch {
    return 'malformed'
  }
}

/** An awareness update without states. Keeps clients from closing a quiet connection. */
export const emptyAwareness: Uint8Array = Uint8Array.of(0)

export function writeAwareness(entries: readonly AwarenessEntry[]): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, entries.length)
  for (const { clientId, clock, json } of entries) {
    encoding.writeVarUint(encoder, clientId)
    encoding.writeVarUint(encoder, clock)
    encoding.writeVarString(encoder, json)
  }
  return encoding.toUint8Array(encoder)
}

/** Overwrites the fields that identify the user, from the token. Names and colours stay as sent. */
export function withTrueIdentity(
  json: string,
  { userId, email }: { userId: string; email: string | undefined },
): string {
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

/** Matches JSON that may contain a field of the identity. A name can also be written with `\u` escapes. */
const identityHints = /"(?:id|userId|email)"|\\u/
