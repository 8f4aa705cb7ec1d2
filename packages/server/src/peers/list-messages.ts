import { createHash } from 'node:crypto'
import {
  createDecoder,
  type Decoder,
  hasContent,
  readBigUint64,
  readUint8,
  readVarString,
  readVarUint,
  readVarUint8Array,
} from 'lib0/decoding'
import {
  encode,
  writeBigUint64,
  writeUint8,
  writeVarString,
  writeVarUint,
  writeVarUint8Array,
} from 'lib0/encoding'

/** What servers send each other about a shared list. */
export type ListMessage =
  /** Asks the servers that have the list open for all their items. */
  | { kind: 'ask' }
  /** All items of the sender follow, then their digest. */
  | { kind: 'all' }
  /** An item of the sender, new or changed. */
  | ({ kind: 'item'; key: string } & SharedItem)
  | { kind: 'removed'; key: string }
  /** Says what the receiver should have, and that the sender still has the list open. */
  | { kind: 'digest'; digest: bigint }
  /** The sender has closed the list. */
  | { kind: 'closed' }

export interface SharedItem {
  content: Uint8Array
  /** For a cursor: how long its session is open, in milliseconds. Otherwise 0. An item that only gets older has not changed. */
  age: number
}

/** Servers of different releases exchange these numbers, so a number is never used for another meaning. */
const kinds = { ask: 1, all: 2, item: 3, removed: 4, digest: 5, closed: 6 } as const
/** The first byte. Messages of another format are malformed. */
const format = 1
const maxKeyLength = 1_024
/** A presence entry has at most 16 KiB of data, and an identity whose fields come from a token or a profile. */
const maxContentBytes = 256 * 1024

export const writeListMessage = (message: ListMessage): Uint8Array =>
  encode((encoder) => {
    writeUint8(encoder, format)
    writeUint8(encoder, kinds[message.kind])
    if ('key' in message) writeVarString(encoder, message.key)
    if ('age' in message) {
      writeVarUint(encoder, Math.max(0, Math.round(message.age)))
      writeVarUint8Array(encoder, message.content)
    }
    if ('digest' in message) writeBigUint64(encoder, message.digest)
  })

/** Throws if the message is malformed, or of a release that this one does not know. */
export function readListMessage(bytes: Uint8Array): ListMessage {
  const decoder = createDecoder(bytes)
  if (readUint8(decoder) !== format) throw new Error('The format is unknown.')
  const message = readKind(decoder)
  if (hasContent(decoder)) throw new Error('The message is too long.')
  return message
}

function readKind(decoder: Decoder): ListMessage {
  switch (readUint8(decoder)) {
    case kinds.ask:
      return { kind: 'ask' }
    case kinds.all:
      return { kind: 'all' }
    case kinds.item: {
      const key = readKey(decoder)
      const age = readVarUint(decoder)
      const content = readVarUint8Array(decoder)
      if (content.length > maxContentBytes) throw new Error('The item is too large.')
      return { kind: 'item', key, age, content }
    }
    case kinds.removed:
      return { kind: 'removed', key: readKey(decoder) }
    case kinds.digest:
      return { kind: 'digest', digest: readBigUint64(decoder) }
    case kinds.closed:
      return { kind: 'closed' }
    default:
      throw new Error('The kind is unknown.')
  }
}

function readKey(decoder: Decoder): string {
  const key = readVarString(decoder)
  if (key.length > maxKeyLength) throw new Error('The key is too long.')
  return key
}

export const fingerprintOf = (key: string, content: Uint8Array): bigint =>
  createHash('sha256').update(key).update('\0').update(content).digest().readBigUInt64LE()

/** The digest of items with these fingerprints, in any order. */
export function digestOf(fingerprints: Iterable<bigint>): bigint {
  let digest = 0n
  for (const fingerprint of fingerprints) digest ^= fingerprint
  return digest
}
