import { isUtf8 } from 'node:buffer'
import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { limits } from '@plenum/protocol/realtime'
import { checkJson } from '../../../platform/json/json-scanner.ts'

/** What an awareness update of y-protocols says of one Yjs client. */
export interface AwarenessEntry {
  client: number
  clock: number
  /** `null`: the client is gone. */
  json: string
}

/** Clients echo what they hear of others, so a message may be as large as what they are sent. */
const maxBytes = 256 * 1024
const mostEntries = 1_000
const mostDepth = 32
/** Clients count by one; from here on we still can. */
const mostClock = 2 ** 32

/** The entries that are wanted; those of other clients are skipped unread. */
export function readAwareness(
  bytes: Uint8Array,
  isWanted: (client: number) => boolean,
): AwarenessEntry[] | 'malformed' | 'tooLarge' {
  if (bytes.length > maxBytes) return 'malformed'
  try {
    const decoder = decoding.createDecoder(bytes)
    const count = decoding.readVarUint(decoder)
    if (count > mostEntries) return 'malformed'
    const entries: AwarenessEntry[] = []
    for (let i = 0; i < count; i++) {
      const client = decoding.readVarUint(decoder)
      const clock = decoding.readVarUint(decoder)
      const json = decoding.readVarUint8Array(decoder)
      if (!isWanted(client)) continue
      if (json.length > limits.awarenessBytes) return 'tooLarge'
      if (clock > mostClock || !isUtf8(json)) return 'malformed'
      // Clients compare states by recursion, so nesting is bounded; and they assign the keys they read.
      checkJson(json, 0, json.length, { depth: mostDepth })
      entries.push({ client, clock, json: Buffer.from(json.buffer, json.byteOffset, json.length).toString() })
    }
    return decoding.hasContent(decoder) ? 'malformed' : entries
  } catch {
    return 'malformed'
  }
}

/** Says nothing; keeps clients from giving a quiet connection up. */
export const emptyAwareness: Uint8Array = Uint8Array.of(0)

export function writeAwareness(entries: readonly AwarenessEntry[]): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, entries.length)
  for (const { client, clock, json } of entries) {
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, clock)
    encoding.writeVarString(encoder, json)
  }
  return encoding.toUint8Array(encoder)
}

/** Fields by which a state may say who its user is. What they claim is made true; names and colours are left as sent. */
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

const identityHints = /"(?:id|userId|email)"|\\u/
