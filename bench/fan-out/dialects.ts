import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'

/** A message of the server, as far as the benchmark needs it. */
export type ServerMessage =
  | { kind: 'authenticated' | 'saved' | 'other' }
  | { kind: 'refused'; reason: string }
  | { kind: 'stateVector' | 'state' | 'update'; bytes: Uint8Array }

export interface Dialect {
  name: string
  /** Whether the server acknowledges an update with a frame of its own. Otherwise it echoes the update to the sender. */
  acknowledges: boolean
  address(server: string, room: string, token: string): string
  /** Returns the message with the token. Undefined: the token is in the address. */
  auth?(room: string, token: string): Uint8Array
  stateVector(room: string, bytes: Uint8Array): Uint8Array
  state(room: string, bytes: Uint8Array): Uint8Array
  update(room: string, bytes: Uint8Array): Uint8Array
  read(frame: Uint8Array): ServerMessage
}

// The kinds of frames of y-protocols and of Hocuspocus.
const sync = 0
const auth = 2
const syncReply = 4
const syncStatus = 8

const syncKinds = ['stateVector', 'state', 'update'] as const

function frame(room: string | undefined, kind: number, subKind: number, body: Uint8Array): Uint8Array {
  const encoder = encoding.createEncoder()
  if (room !== undefined) encoding.writeVarString(encoder, room)
  encoding.writeVarUint(encoder, kind)
  encoding.writeVarUint(encoder, subKind)
  encoding.writeVarUint8Array(encoder, body)
  return encoding.toUint8Array(encoder)
}

function readSync(decoder: decoding.Decoder): ServerMessage {
  const kind = syncKinds[decoding.readVarUint(decoder)]
  return kind ? { kind, bytes: decoding.readVarUint8Array(decoder) } : { kind: 'other' }
}

export const yWebsocket: Dialect = {
  name: 'y-websocket',
  acknowledges: false,
  address: (server, room, token) => `${server}/yjs/${room}?token=${token}`,
  stateVector: (_room, bytes) => frame(undefined, sync, 0, bytes),
  state: (_room, bytes) => frame(undefined, sync, 1, bytes),
  update: (_room, bytes) => frame(undefined, sync, 2, bytes),
  read(bytes) {
    const decoder = decoding.createDecoder(bytes)
    return decoding.readVarUint(decoder) === sync ? readSync(decoder) : { kind: 'other' }
  },
}

export const hocuspocus: Dialect = {
  name: 'Hocuspocus',
  acknowledges: true,
  address: (server) => `${server}/hocuspocus`,
  auth: (room, token) => frame(room, auth, 0, new TextEncoder().encode(token)),
  stateVector: (room, bytes) => frame(room, sync, 0, bytes),
  state: (room, bytes) => frame(room, sync, 1, bytes),
  update: (room, bytes) => frame(room, sync, 2, bytes),
  read(bytes) {
    if (bytes.length === 1) return { kind: 'other' } // A ping is the only frame without a room.
    const decoder = decoding.createDecoder(bytes)
    decoding.readVarUint8Array(decoder) // The room, which is skipped: a connection of this benchmark has only one.
    const kind = decoding.readVarUint(decoder)
    if (kind === sync || kind === syncReply) return readSync(decoder)
    if (kind === syncStatus) {
      return decoding.readVarUint(decoder) === 1
        ? { kind: 'saved' }
        : { kind: 'refused', reason: 'An update was not saved.' }
    }
    if (kind !== auth) return { kind: 'other' }
    return decoding.readVarUint(decoder) === 2
      ? { kind: 'authenticated' }
      : { kind: 'refused', reason: decoding.readVarString(decoder) }
  },
}
