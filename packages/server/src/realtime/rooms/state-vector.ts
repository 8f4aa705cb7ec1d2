import * as Y from 'yjs'
import { maxClientIds } from './client-owners.ts'

/** More than an editor has, because a client may have used a few ids that the server refused. */
export const maxVectorClients = maxClientIds + 1_000
/** A number of 53 bits takes this many bytes. */
const maxVarUintBytes = 8

/**
 * Returns what is wrong with an encoded state vector, or undefined. A state vector is the number of clients, then two numbers
 * for each client. Only the last byte of a number has no high bit. The numbers are counted, not decoded, because decoding
 * 200,000 clients takes 30 ms.
 */
export function faultOfStateVector(bytes: Uint8Array): string | undefined {
  const reader = new VarUints(bytes)
  const clients = reader.next()
  if (clients > maxVectorClients) return `A state vector has at most ${maxVectorClients} clients.`
  let numbers = 0
  let length = 0
  for (let at = reader.at; at < bytes.length; at++) {
    if (++length > maxVarUintBytes) return malformed
    if ((bytes[at] as number) > 0x7f) continue
    numbers++
    length = 0
  }
  return length === 0 && numbers === clients * 2 ? undefined : malformed
}

const malformed = 'Malformed state vector.'

/**
 * Visits each Yjs client id with its next clock, until `visit` returns true. Returns whether it did. The vector must have no
 * fault.
 */
export function someClient(
  stateVector: Uint8Array,
  visit: (clientId: number, clock: number) => boolean,
): boolean {
  const reader = new VarUints(stateVector)
  for (let left = reader.next(); left > 0; left--) if (visit(reader.next(), reader.next())) return true
  return false
}

/** Returns the state vector of a document before these updates, which it contains, were applied. */
export function withoutUpdates(stateVector: Uint8Array, updates: Iterable<Uint8Array>): Uint8Array {
  const starts = new Map<number, number>()
  for (const update of updates) {
    for (const [client, clock] of Y.parseUpdateMeta(update).from)
      starts.set(client, Math.min(clock, starts.get(client) ?? clock))
  }
  if (starts.size === 0) return stateVector
  const clocks = Y.decodeStateVector(stateVector)
  for (const [client, clock] of starts) clocks.set(client, Math.min(clock, clocks.get(client) ?? 0))
  return Y.encodeStateVector(clocks)
}

/** Reads numbers one after the other. */
class VarUints {
  readonly #bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Returns the next number, or NaN after the end. */
  next(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.at++]
      if (byte === undefined) return Number.NaN
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }
}
