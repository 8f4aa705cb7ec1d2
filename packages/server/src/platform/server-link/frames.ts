/**
 * Messages travel in frames: a byte for the kind, the sender, the number of the frame, then bytes of the message. A message
 * that does not fit into one frame has several, with consecutive numbers.
 */
const senderBytes = 8
const numberBytes = 6
const numberAt = 1 + senderBytes
export const headerBytes = numberAt + numberBytes

/** A message has at most this many bytes. A receiver keeps no more of a message that is incomplete. */
export const maxMessageBytes = 4 * 1024 * 1024

/** Kinds of frames. Servers of different releases exchange them, so a number is never used for another meaning. */
const kinds = { middle: 0, first: 1, last: 2, whole: 3, probe: 4 } as const

export interface Frame {
  kind: number
  sender: string
  number: number
  bytes: Uint8Array
}

export const isProbe = ({ kind }: Frame): boolean => kind === kinds.probe

/** Writes the frames of one server. */
export class FrameWriter {
  /** 8 characters of one byte each. */
  readonly sender: string
  readonly #maxFrameBytes: number
  #number = 0

  constructor(sender: string, maxFrameBytes: number) {
    this.sender = sender
    this.#maxFrameBytes = maxFrameBytes
  }

  /** The number of the frame that was written last. */
  get lastNumber(): number {
    return this.#number
  }

  probe(): Buffer {
    return this.#frame(kinds.probe, new Uint8Array())
  }

  framesOf(message: Uint8Array): Buffer[] {
    const size = this.#maxFrameBytes - headerBytes
    const count = Math.max(1, Math.ceil(message.length / size))
    return Array.from({ length: count }, (_, index) => {
      const kind = (index === 0 ? kinds.first : 0) + (index === count - 1 ? kinds.last : 0)
      return this.#frame(kind, count === 1 ? message : message.subarray(index * size, (index + 1) * size))
    })
  }

  #frame(kind: number, bytes: Uint8Array): Buffer {
    const frame = Buffer.allocUnsafe(headerBytes + bytes.length)
    frame[0] = kind
    frame.write(this.sender, 1, 'latin1')
    frame.writeUIntBE((this.#number += 1), numberAt, numberBytes)
    frame.set(bytes, headerBytes)
    return frame
  }
}

/** Returns undefined for bytes that are not a frame. */
export function readFrame(frame: Buffer): Frame | undefined {
  const kind = frame[0]
  if (kind === undefined || kind > kinds.probe || frame.length < headerBytes) return undefined
  return {
    kind,
    sender: frame.toString('latin1', 1, numberAt),
    number: frame.readUIntBE(numberAt, numberBytes),
    bytes: frame.subarray(headerBytes),
  }
}

interface Sender {
  lastNumber: number
  /** When its last frame arrived. */
  heardAt: number
  /** The frames of a message that is incomplete, and their bytes. */
  parts: Uint8Array[]
  bytes: number
}

/** Puts the messages of other servers together. */
export class FrameReader {
  readonly #senders = new Map<string, Sender>()

  /** Returns the message that the frame completes, if any. A message with a missing frame is dropped. */
  read({ kind, sender: name, number, bytes }: Frame, now: number): Uint8Array | undefined {
    const sender = this.#senders.get(name) ?? { lastNumber: 0, heardAt: now, parts: [], bytes: 0 }
    // It was sent through a connection that was lost, and overtaken by frames of the next one.
    if (number <= sender.lastNumber) return undefined
    const isNext = number === sender.lastNumber + 1
    sender.lastNumber = number
    sender.heardAt = now
    this.#senders.set(name, sender)
    if (kind === kinds.probe) return undefined
    if (kind === kinds.whole) return bytes
    if (kind === kinds.first || !isNext || sender.bytes + bytes.length > maxMessageBytes) drop(sender)
    // Its first frame is missing.
    if (kind !== kinds.first && sender.parts.length === 0) return undefined
    sender.parts.push(bytes)
    sender.bytes += bytes.length
    if (kind !== kinds.last) return undefined
    const message = Buffer.concat(sender.parts)
    drop(sender)
    return message
  }

  /** Forgets the servers that were last heard before this time, with their incomplete messages. */
  dropBefore(time: number): void {
    for (const [name, { heardAt }] of this.#senders) if (heardAt < time) this.#senders.delete(name)
  }
}

function drop(sender: Sender): void {
  sender.parts = []
  sender.bytes = 0
}
