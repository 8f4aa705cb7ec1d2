import * as decoding from 'lib0/decoding'
import { encodeMessage } from './encode-message.ts'
import type { EditorTarget, MessageKind } from './raw-client.ts'

/** A sync message begins with the index of its kind. */
export const syncKinds = ['syncStep1', 'syncStep2', 'update'] as const

export function readSync(
  decoder: decoding.Decoder,
  onMessage: (kind: MessageKind, bytes: Uint8Array) => void,
): void {
  const kind = syncKinds[decoding.readVarUint(decoder)] as MessageKind
  onMessage(kind, decoding.readVarUint8Array(decoder))
}

/** Encodes a message of y-websocket. Hocuspocus writes the name of the editor before the same bytes. */
export const encodeYjs = (kind: MessageKind, bytes: Uint8Array, ...prefix: string[]): Uint8Array =>
  kind === 'awareness'
    ? encodeMessage(...prefix, 1, bytes)
    : encodeMessage(...prefix, 0, syncKinds.indexOf(kind), bytes)

export const nameOf = ({ organizationId, documentId, editorId }: EditorTarget) =>
  `${organizationId}/${documentId}/${editorId}`
