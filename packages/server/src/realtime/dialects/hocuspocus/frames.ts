import * as encoding from 'lib0/encoding'
import { ApiError, type ErrorStatus } from '@plenum/protocol'
import type { AccessRole } from '@plenum/protocol/realtime'
import type { Voice } from '../../editors/session.ts'
import { binaryFrame, binaryMessage, headOf } from '../../sockets/frames.ts'
import { statusOfFault } from '../../editors/fault-status.ts'
import { syncMessages } from '../yjs.ts'

/** The protocol of the Hocuspocus provider: every message begins with the name of its editor. */
export const messages = {
  sync: 0,
  awareness: 1,
  auth: 2,
  queryAwareness: 3,
  /** Is not answered with a question. */
  syncReply: 4,
  stateless: 5,
  broadcastStateless: 6,
  close: 7,
  syncStatus: 8,
  ping: 9,
  pong: 10,
} as const
export const authMessages = { token: 0, permissionDenied: 1, authenticated: 2 } as const

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

/** A refusal that ends nothing: a stateless message in the form of an error of the REST interface. */
export const refusal = (name: string, status: ErrorStatus, text: string) =>
  message(name, [messages.stateless], JSON.stringify(new ApiError(status, text).toBody()))

export function createVoice(name: string): Voice {
  const prefix = encoding.encode((encoder) => encoding.writeVarString(encoder, name))
  const withBytes = (types: readonly number[], bytes: Uint8Array) =>
    binaryFrame(prefix, headOf(types, bytes), bytes)
  const status = (isSaved: boolean) =>
    binaryFrame(prefix, Uint8Array.of(messages.syncStatus, isSaved ? 1 : 0))
  return {
    key: `hocuspocus ${name}`,
    syncStep1: (stateVector) => withBytes([messages.sync, syncMessages.step1], stateVector),
    syncStep2: (update) => binaryMessage(prefix, headOf([messages.sync, syncMessages.step2], update), update),
    update: (update) => withBytes([messages.sync, syncMessages.update], update),
    awareness: (update) => withBytes([messages.awareness], update),
    stateless: (payload) => withBytes([messages.stateless], payload),
    saved: () => status(true),
    refused: (_number, fault, isRepeated) => {
      // A viewer was told that it only reads.
      if (isRepeated || fault.code === 'read_only') return status(false)
      return Buffer.concat([status(false), refusal(name, statusOfFault(fault), fault.message)])
    },
  }
}
