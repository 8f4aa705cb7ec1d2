import type { WebSocket } from 'ws'
import { encodeMessage } from './encode-message.ts'

/** Frames the messages of a client for one TCP write, so that the server reads them together. */
export function burstOf(messages: readonly Uint8Array[]): Buffer {
  return Buffer.concat(messages.flatMap((message) => [headerOf(message.length), message]))
}

/** The header of a binary message of a client. Its mask is zero, which leaves the bytes as they are. */
function headerOf(length: number): Buffer {
  const header = Buffer.alloc(length < 126 ? 6 : length < 65_536 ? 8 : 14)
  header[0] = 0x82
  if (length < 126) header[1] = 0x80 | length
  else if (length < 65_536) {
    header[1] = 0x80 | 126
    header.writeUInt16BE(length, 2)
  } else {
    header[1] = 0x80 | 127
    header.writeUInt32BE(length, 6)
  }
  return header
}

/** Writes the frames to the TCP connection of the socket at once. */
export function sendBurst(socket: WebSocket, burst: Buffer): void {
  // oxlint-disable-next-line no-underscore-dangle -- `ws` sends each message by itself
  ;(socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(burst)
}

/** An update as a message of y-websocket. */
export const yjsUpdate = (update: Uint8Array): Uint8Array => encodeMessage(0, 2, update)
