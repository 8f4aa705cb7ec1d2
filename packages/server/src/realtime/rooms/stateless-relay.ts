import type { ErrorStatus } from '@plenum/protocol'
import { encodeOncePerKey } from './broadcast.ts'
import type { Member } from './member.ts'
import { type BroadcastPart, PacedBroadcast } from '../../platform/turns/paced-broadcast.ts'

/** Bytes of the messages that may wait in one editor. */
const maxWaitingBytes = 1024 * 1024
/** A smaller message counts as this many bytes, because even an empty message takes memory. */
const minBytesPerMessage = 256

/** Why a message is not relayed. */
export interface StatelessRefusal {
  status: ErrorStatus
  message: string
}

const mayNotWrite: StatelessRefusal = {
  status: 'PERMISSION_DENIED',
  message: 'The user may read this document, but not send stateless messages.',
}
const tooManyWait: StatelessRefusal = {
  status: 'RESOURCE_EXHAUSTED',
  message: 'The clients of this editor send more stateless messages than it can pass on.',
}

interface StatelessMessage {
  /** Undefined if the message comes from another server. */
  from: Member | undefined
  payload: Uint8Array
}

/** Relays stateless messages, which are not stored, to the other clients in the editor, in the order of their arrival. */
export class StatelessRelay {
  readonly #waiting: StatelessMessage[] = []
  #waitingBytes = 0
  readonly #broadcast: PacedBroadcast<Member>
  readonly #sendToServers: (payload: Uint8Array) => void

  constructor(
    members: ReadonlySet<Member>,
    run: (steps: Iterator<unknown>) => void,
    sendToServers: (payload: Uint8Array) => void = () => {},
  ) {
    this.#sendToServers = sendToServers
    this.#broadcast = new PacedBroadcast({
      recipients: members,
      countWaiting: () => this.#waiting.length,
      takePart: () => this.#takePart(),
      run,
    })
  }

  /** Queues the message, or calls `onRefused`. */
  send(from: Member, payload: Uint8Array, onRefused: (refusal: StatelessRefusal) => void): void {
    if (!from.canWriteNow) return onRefused(mayNotWrite)
    if (!this.#queue({ from, payload })) onRefused(tooManyWait)
  }

  /** Queues the message of a client on another server, unless too many wait. */
  receiveFromServer(payload: Uint8Array): void {
    this.#queue({ from: undefined, payload })
  }

  #queue(message: StatelessMessage): boolean {
    const bytes = bytesOf(message.payload)
    if (this.#waitingBytes + bytes > maxWaitingBytes) return false
    this.#waiting.push(message)
    this.#waitingBytes += bytes
    this.#broadcast.start()
    return true
  }

  #takePart(): BroadcastPart<Member> {
    const { from, payload } = this.#waiting.shift() as StatelessMessage
    this.#waitingBytes -= bytesOf(payload)
    if (from) this.#sendToServers(payload)
    const frameFor = encodeOncePerKey((codec) => codec.stateless?.(payload))
    const send = (member: Member) => {
      const frame = member === from ? undefined : frameFor(member.codec)
      if (frame) member.send(frame)
      return frame !== undefined
    }
    return { changes: 1, bytes: payload.length, send, waitMs: 0 }
  }
}

/** The bytes that a message counts for. */
export const bytesOf = ({ length }: Uint8Array): number => Math.max(length, minBytesPerMessage)
