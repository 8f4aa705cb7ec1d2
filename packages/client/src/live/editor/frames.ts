import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { ErrorStatus } from '@plenum/protocol/errors'
import { editorFrames } from '@plenum/protocol/realtime'

export type EditorFrame =
  | { kind: 'syncStep1' | 'syncStep2' | 'update' | 'awareness'; bytes: Uint8Array }
  | { kind: 'saved'; number: number }
  | { kind: 'refused'; number: number; reason: string; status: ErrorStatus | undefined }

type Bytes = Uint8Array<ArrayBuffer>

export function encodeFrame(channel: number, kind: 'syncStep1' | 'awareness', bytes: Uint8Array): Bytes {
  const encoder = createFrame(channel, kind)
  encoding.writeVarUint8Array(encoder, bytes)
  return encoding.toUint8Array(encoder)
}

export function encodeUpdate(
  channel: number,
  kind: 'syncStep2' | 'update',
  number: number,
  update: Uint8Array,
): Bytes {
  const encoder = createFrame(channel, kind)
  encoding.writeVarUint(encoder, number)
  encoding.writeVarUint8Array(encoder, update)
  return encoding.toUint8Array(encoder)
}

function createFrame(channel: number, kind: keyof typeof editorFrames): encoding.Encoder {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, channel)
  encoding.writeVarUint(encoder, editorFrames[kind])
  return encoder
}

/** Returns undefined for bytes that are not a frame, and an undefined `frame` for a kind that only later servers send. */
export function decodeFrame(
  bytes: Uint8Array,
): { channel: number; frame: EditorFrame | undefined } | undefined {
  try {
    const decoder = decoding.createDecoder(bytes)
    const channel = decoding.readVarUint(decoder)
    return { channel, frame: readBody(decoder, decoding.readVarUint(decoder)) }
  } catch {
    return undefined
  }
}

function readBody(decoder: decoding.Decoder, kind: number): EditorFrame | undefined {
  switch (kind) {
    case editorFrames.syncStep1:
      return { kind: 'syncStep1', bytes: decoding.readVarUint8Array(decoder) }
    case editorFrames.syncStep2:
      return { kind: 'syncStep2', bytes: decoding.readVarUint8Array(decoder) }
    case editorFrames.update:
      return { kind: 'update', bytes: decoding.readVarUint8Array(decoder) }
    case editorFrames.awareness:
      return { kind: 'awareness', bytes: decoding.readVarUint8Array(decoder) }
    case editorFrames.saved:
      return { kind: 'saved', number: decoding.readVarUint(decoder) }
    case editorFrames.refused:
      return {
        kind: 'refused',
        number: decoding.readVarUint(decoder),
        reason: decoding.readVarString(decoder),
        // Older servers do not send a status.
        status: decoding.hasContent(decoder) ? (decoding.readVarString(decoder) as ErrorStatus) : undefined,
      }
  }
}
