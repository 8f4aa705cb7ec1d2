import * as encoding from 'lib0/encoding'
import { ApiError, type ErrorStatus } from '@plenum/protocol'
import type { AccessRole } from '@plenum/protocol/realtime'
import { statusOfFault } from '../../editors/fault-status.ts'
import type { EditorCodec } from '../../editors/dialect-side.ts'
import { binaryFrame, binaryMessage, yjsHeader } from '../../sockets/frames.ts'
import { syncMessages } from '../yjs-sync.ts'

/** The message types of the Hocuspocus provider. Every message but ping and pong begins with the name of its editor. */
export const messages = {
  sync: 0,
  awareness: 1,
  auth: 2,
  queryAwareness: 3,
  /** A sync message that the receiver does not answer with a sync step 1. */
  syncReply: 4,
  stateless: 5,
  broadcastStateless: 6,
  close: 7,
  syncStatus: 8,
  ping: 9,
  pong: 10,
} as const
export const authMessages = { token: 0, permissionDenied: 1, authenticated: 2 } as const

/** Encodes a message about the editor `name`: its types, and an optional text. */
export function message(name: string, types: readonly number[], text?: string): Buffer {
  const encoder = encoding.createEncoder()
  encoding.writeVarString(encoder, name)
  for (const type of types) encoding.writeVarUint(encoder, type)
  if (text !== undefined) encoding.writeVarString(encoder, text)
  return binaryFrame(encoding.toUint8Array(encoder))
}

export const ping = binaryFrame(Uint8Array.of(messages.ping))

export const denied = (name: string, reason: string) =>
  message(name, [messages.auth, authMessages.permissionDenied], reason)

export const authenticated = (name: string, role: AccessRole) =>
  message(name, [messages.auth, authMessages.authenticated], role === 'editor' ? 'read-write' : 'readonly')

/** Reports a refusal that keeps the editor open: a stateless message with the body of a REST error. */
export const refusal = (name: string, status: ErrorStatus, text: string) =>
  message(name, [messages.stateless], JSON.stringify(new ApiError(status, text).toBody()))

export function createCodec(name: string): EditorCodec {
  const prefix = encoding.encode((encoder) => encoding.writeVarString(encoder, name))
  const frameWith = (types: readonly number[], bytes: Uint8Array) =>
    binaryFrame(prefix, yjsHeader(types, bytes), bytes)
  const syncStatus = (isSaved: boolean) =>
    binaryFrame(prefix, Uint8Array.of(messages.syncStatus, isSaved ? 1 : 0))
  return {
    key: `hocuspocus ${name}`,
    syncStep1: (stateVector) => frameWith([messages.sync, syncMessages.step1], stateVector),
    syncStep2: (update) =>
      binaryMessage(prefix, yjsHeader([messages.sync, syncMessages.step2], update), update),
    update: (update) => frameWith([messages.sync, syncMessages.update], update),
    awareness: (update) => frameWith([messages.awareness], update),
    stateless: (payload) => frameWith([messages.stateless], payload),
    saved: () => syncStatus(true),
    refused: (_number, fault, isRepeated) => {
      // A viewer knows from `authenticated` that it may only read.
      if (isRepeated || fault.code === 'read_only') return syncStatus(false)
      return Buffer.concat([syncStatus(false), refusal(name, statusOfFault(fault), fault.message)])
    },
  }
}
