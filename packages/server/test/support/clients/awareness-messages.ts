import * as decoding from 'lib0/decoding'
import { encodeMessage } from './encode-message.ts'

export interface AwarenessEntry {
  yjsClientId: number
  clock: number
  json: string
}

/** Encodes any entries: valid JSON or not. */
export const encodeEntries = (...entries: readonly AwarenessEntry[]): Uint8Array =>
  encodeMessage(
    entries.length,
    ...entries.flatMap(({ yjsClientId, clock, json }) => [yjsClientId, clock, json]),
  )

/** Encodes the state of one Yjs client id; null removes it. */
export const encodeAwareness = (yjsClientId: number, clock: number, state: object | null): Uint8Array =>
  encodeEntries({ yjsClientId, clock, json: JSON.stringify(state) })

export function decodeAwareness(bytes: Uint8Array): AwarenessEntry[] {
  const decoder = decoding.createDecoder(bytes)
  return Array.from({ length: decoding.readVarUint(decoder) }, () => {
    const yjsClientId = decoding.readVarUint(decoder)
    const clock = decoding.readVarUint(decoder)
    return { yjsClientId, clock, json: decoding.readVarString(decoder) }
  })
}
