import * as decoding from 'lib0/decoding'
import { editorFrames } from '@plenum/protocol/realtime'
import { encodeMessage } from './encode-message.ts'

export type FrameKind = keyof typeof editorFrames

/** A binary message of `/realtime`. */
export interface EditorFrame {
  channel: number
  kind: FrameKind
  /** Only in `saved` and `refused`: the number of the update. */
  number?: number
  /** Only in `refused`. */
  reason?: string
  bytes?: Uint8Array
}

/** Encodes a frame. Only `syncStep2` and `update` have a number. */
export const encodeFrame = (
  channel: number,
  kind: FrameKind,
  bytes: Uint8Array,
  number?: number,
): Uint8Array =>
  encodeMessage(channel, editorFrames[kind], ...(number === undefined ? [bytes] : [number, bytes]))

export function decodeFrame(data: Uint8Array): EditorFrame {
  const decoder = decoding.createDecoder(data)
  const channel = decoding.readVarUint(decoder)
  const code = decoding.readVarUint(decoder)
  const kind = (Object.keys(editorFrames) as FrameKind[]).find((name) => editorFrames[name] === code)
  if (!kind) throw new Error(`The server sent a frame of the unknown kind ${code}.`)
  if (kind === 'saved') return { channel, kind, number: decoding.readVarUint(decoder) }
  if (kind === 'refused') {
    const number = decoding.readVarUint(decoder)
    return { channel, kind, number, reason: decoding.readVarString(decoder) }
  }
  return { channel, kind, bytes: decoding.readVarUint8Array(decoder) }
}
