/** Frames of the WebSocket protocol from server to client: whole, unmasked, ready to be written to many sockets. */

const opcodes = { text: 1, binary: 2 } as const

export function binaryFrame(...parts: readonly Uint8Array[]): Buffer {
  return frame(opcodes.binary, parts)
}

export function textFrame(text: string): Buffer {
  return frame(opcodes.text, [Buffer.from(text)])
}

function frame(opcode: number, parts: readonly Uint8Array[]): Buffer {
  let length = 0
  for (const part of parts) length += part.length
  const header = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(header + length)
  frame[0] = 0x80 | opcode
  if (header === 2) frame[1] = length
  else if (header === 4) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeUInt32BE(Math.floor(length / 2 ** 32), 2)
    frame.writeUInt32BE(length >>> 0, 6)
  }
  let at = header
  for (const part of parts) {
    frame.set(part, at)
    at += part.length
  }
  return frame
}
