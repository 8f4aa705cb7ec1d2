import { createDecoder, readVarUint } from 'lib0/decoding'
import { createEncoder, toUint8Array, writeVarUint } from 'lib0/encoding'
import type { BusMessage } from '../bus.ts'
import type { DocumentRef, EditorRef } from '../store/refs.ts'
import { encodeRow } from './editor-rows.ts'
import { type Address, addressOf, type Peers, type ServerId } from './peers.ts'

export const documentAddress = (apiKey: string, { organizationId, documentId }: DocumentRef): Address =>
  addressOf(apiKey, organizationId, documentId)

export const editorAddress = (apiKey: string, { organizationId, documentId, editorId }: EditorRef): Address =>
  addressOf(apiKey, organizationId, documentId, editorId)

/** A message about numbered data: a server finds in the database which numbers it misses. */
export type Numbered = Extract<BusMessage, { kind: 'editor' | 'liveState' | 'threads' }>

export const isNumbered = (message: BusMessage): message is Numbered =>
  message.kind === 'editor' || message.kind === 'liveState' || message.kind === 'threads'

/** Tells the servers that have the editor or the document open that it has new rows. Sends the row, if it is known. */
export function sendHint(peers: Peers, message: Numbered): void {
  if (peers.count === 0) return
  const { apiKey } = message
  if (message.kind === 'editor') {
    const { row } = message
    const body = row ? encodeRow(row, peers.carriesData) : unknownSeq
    peers.send('editor', editorAddress(apiKey, message), body)
  } else peers.send('document', documentAddress(apiKey, message), encodeSeq(message.seq))
}

/** Tells a server that has just opened the editor or the document how new this server's data is. It got no hints before. */
export const sendNewestSeq =
  (peers: Peers, topic: 'editor' | 'document', address: Address, seq: () => number) =>
  (server: ServerId): void =>
    peers.send(topic, address, encodeSeq(seq()), [server])

const encodeSeq = (seq: number): Uint8Array => {
  const encoder = createEncoder()
  writeVarUint(encoder, seq)
  return toUint8Array(encoder)
}

/** The number of the newest row. Infinity: it is not known. */
export const decodeSeq = (body: Uint8Array): number =>
  body.length === 0 ? Infinity : readVarUint(createDecoder(body))

const unknownSeq = new Uint8Array()
