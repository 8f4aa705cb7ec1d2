import * as decoding from 'lib0/decoding'
import type { EditorSession } from '../editors/session.ts'

/** The sync messages of Yjs, which y-websocket, Y-Sweet and Hocuspocus share. */
export const syncMessages = { step1: 0, step2: 1, update: 2 } as const

export interface SyncOptions {
  /** Whether the server answers a `step1` with a `step2` and a `step1` of its own. Default: false. */
  sendsStep1Back?: boolean
  /** Returns the number under which an update is acknowledged. `isStep2`: the update is a `step2`. */
  numberOf?(isStep2: boolean): number
}

/** Whether the sync message that follows is a `step1`. */
export const isSyncStep1 = (decoder: decoding.Decoder): boolean =>
  decoding.peekVarUint(decoder) === syncMessages.step1

/** Passes a sync message to the session. Returns false if the message is not part of the protocol. */
export function readSync(
  decoder: decoding.Decoder,
  session: EditorSession,
  { sendsStep1Back = false, numberOf = () => 0 }: SyncOptions,
): boolean {
  const type = decoding.readVarUint(decoder)
  const bytes = decoding.readVarUint8Array(decoder)
  if (type === syncMessages.step1) session.syncStep1(bytes, sendsStep1Back)
  else if (type === syncMessages.step2) session.update(numberOf(true), bytes, true)
  else if (type === syncMessages.update) session.update(numberOf(false), bytes, false)
  else return false
  return true
}
