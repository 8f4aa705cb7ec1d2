import * as encoding from 'lib0/encoding'
import { ApiError, type ErrorStatus } from '@plenum/protocol'
import type { AccessRole } from '@plenum/protocol/realtime'
import type { Fault } from '../../../crdt/updates/fault.ts'
import { statusOfFault } from '../../editors/fault-status.ts'
import type { EditorCodec } from '../../editors/dialect-side.ts'
import { binaryFrame, binaryMessage, type Message, pingFrame, yjsHeader } from '../../sockets/frames.ts'
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

/** Two pings: a message of Hocuspocus, and a control frame of WebSocket. */
export const pingFrames = Buffer.concat([binaryFrame(Uint8Array.of(messages.ping)), pingFrame])

export const denied = (name: string, reason: string) =>
  message(name, [messages.auth, authMessages.permissionDenied], reason)

export const authenticated = (name: string, role: AccessRole) =>
  message(name, [messages.auth, authMessages.authenticated], role === 'editor' ? 'read-write' : 'readonly')

/** Reports a refusal that keeps the editor open: a stateless message with the body of a REST error. */
export const refusal = (name: string, status: ErrorStatus, text: string) =>
  message(name, [messages.stateless], JSON.stringify(new ApiError(status, text).toBody()))

/** Encodes the messages about one editor. The bytes of its name are not kept: there is a codec for each connection. */
export class HocuspocusCodec implements EditorCodec {
  readonly key: string
  readonly #name: string

  constructor(name: string) {
    this.key = `hocuspocus ${name}`
    this.#name = name
  }

  syncStep1(stateVector: Uint8Array): Buffer {
    return this.#frame([messages.sync, syncMessages.step1], stateVector)
  }

  syncStep2(update: Uint8Array): Message {
    return binaryMessage(this.#prefix(), yjsHeader([messages.sync, syncMessages.step2], update), update)
  }

  update(update: Uint8Array): Buffer {
    return this.#frame([messages.sync, syncMessages.update], update)
  }

  awareness(update: Uint8Array): Buffer {
    return this.#frame([messages.awareness], update)
  }

  stateless(payload: Uint8Array): Buffer {
    return this.#frame([messages.stateless], payload)
  }

  saved(): Buffer {
    return this.#syncStatus(true)
  }

  refused(_number: number, fault: Fault, isRepeated: boolean): Buffer {
    const status = this.#syncStatus(false)
    // A viewer knows from `authenticated` that it may only read.
    if (isRepeated || fault.code === 'read_only') return status
    return Buffer.concat([status, refusal(this.#name, statusOfFault(fault), fault.message)])
  }

  #syncStatus(isSaved: boolean): Buffer {
    return binaryFrame(this.#prefix(), Uint8Array.of(messages.syncStatus, isSaved ? 1 : 0))
  }

  #frame(types: readonly number[], bytes: Uint8Array): Buffer {
    return binaryFrame(this.#prefix(), yjsHeader(types, bytes), bytes)
  }

  #prefix(): Uint8Array {
    return encoding.encode((encoder) => encoding.writeVarString(encoder, this.#name))
  }
}
