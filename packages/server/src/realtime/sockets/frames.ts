/** Encodes WebSocket messages from server to client, which are not masked. */

const opcodes = { continuation: 0, text: 1, binary: 2, ping: 9 } as const
const final = 0x80

/** A ping without data. */
export const pingFrame = Buffer.of(final | opcodes.ping, 0)

/** A message whose parts may be shared with other messages. If it is sent in fragments, the parts are not copied. */
export interface Message {
  readonly opcode: number
  readonly parts: readonly Uint8Array[]
}

export const binaryMessage = (...parts: readonly Uint8Array[]): Message => ({ opcode: opcodes.binary, parts })
export const textMessage = (...parts: readonly Uint8Array[]): Message => ({ opcode: opcodes.text, parts })

/** Encodes a whole message in one frame. The frame can be written to many sockets. */
export function binaryFrame(...parts: readonly Uint8Array[]): Buffer {
  return frameOf(binaryMessage(...parts))
}

/** Encodes a text message: `text`, followed by the UTF-8 bytes in `rest`. */
export function textFrame(text: string, ...rest: readonly Uint8Array[]): Buffer {
  return frameOf(textMessage(Buffer.from(text), ...rest))
}

export function frameOf({ opcode, parts }: Message): Buffer {
  const length = lengthOf(parts)
  let at = headerBytes(length)
  const frame = Buffer.allocUnsafe(at + length)
  writeHeader(frame, final | opcode, length)
  for (const part of parts) {
    frame.set(part, at)
    at += part.length
  }
  return frame
}

export function lengthOf(parts: readonly Uint8Array[]): number {
  let length = 0
  for (const part of parts) length += part.length
  return length
}

/**
 * The header of a Yjs message: numbers below 128, then the length of the bytes that follow. Written by hand, because an
 * encoder of lib0 costs as much as the rest of a small frame.
 */
export function yjsHeader(numbers: readonly number[], { length }: Uint8Array): Uint8Array {
  const header = new Uint8Array(numbers.length + varUintBytes(length))
  header.set(numbers)
  let at = numbers.length
  let left = length
  for (; left > 127; left >>>= 7) header[at++] = left | 128
  header[at] = left
  return header
}

function varUintBytes(value: number): number {
  let bytes = 1
  for (let left = value; left > 127; left >>>= 7) bytes++
  return bytes
}

const headerBytes = (length: number): number => (length < 126 ? 2 : length < 65_536 ? 4 : 10)

function writeHeader(frame: Buffer, first: number, length: number): Buffer {
  frame[0] = first
  if (length < 126) frame[1] = length
  else if (length < 65_536) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeUInt32BE(Math.floor(length / 2 ** 32), 2)
    frame.writeUInt32BE(length >>> 0, 6)
  }
  return frame
}

/**
 * Splits a message into fragments. Each fragment is a frame header and views of the parts. Only control frames may be sent
 * between two fragments (RFC 6455, 5.4).
 */
export function* fragmentsOf({ opcode, parts }: Message, maxBytes: number): Generator<Uint8Array[]> {
  let left = lengthOf(parts)
  let isFirst = true
  let slices: Uint8Array[] = []
  let bytes = 0
  for (const part of parts) {
    for (let at = 0; at < part.length;) {
      const slice = part.subarray(at, at + maxBytes - bytes)
      slices.push(slice)
      at += slice.length
      bytes += slice.length
      left -= slice.length
      if (bytes < maxBytes && left > 0) continue
      const first = (left === 0 ? final : 0) | (isFirst ? opcode : opcodes.continuation)
      yield [writeHeader(Buffer.allocUnsafe(headerBytes(bytes)), first, bytes), ...slices]
      isFirst = false
      slices = []
      bytes = 0
    }
  }
}
