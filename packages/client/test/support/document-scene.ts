import type { LiveStateValue, Position } from '@plenum/protocol/realtime'
import type { LiveDocument } from '../../src/index.ts'
import { useFakes } from './fakes.ts'

export const at = (seq: number, epoch = 'e'): Position => ({ epoch, seq })

/** A live state as the server sends it. */
export const state = (liveStateDataId: string, data: Record<string, unknown>): LiveStateValue => ({
  id: liveStateDataId,
  liveStateDataId,
  data,
  lastUpdated: 0,
  updatedBy: { userId: 'bob' },
})

export const valuesOf = (document: LiveDocument, ...ids: string[]) =>
  ids.map((id) => document.liveState(id).value)

/** The steps of the tests about one document, `org_1/doc_1`. */
export function useDocumentScene() {
  const fakes = useFakes()
  return {
    fakes,
    async openDocument() {
      const connection = await fakes.connect()
      const document = connection.document('org_1', 'doc_1')
      fakes.server.socket.authenticate()
      return { connection, document }
    },
    /** The server accepts the newest request to open the document. Returns its ref. */
    acceptDocument(seq: number, liveStates: LiveStateValue[] = [], { reset = true, epoch = 'e' } = {}) {
      const ref = fakes.server.socket.sent('open').at(-1)?.ref ?? 0
      const position = at(seq, epoch)
      fakes.server.socket.deliver({ type: 'opened', ref, accessRole: 'editor', position, reset, liveStates })
      return ref
    },
    async reconnect(): Promise<void> {
      fakes.server.socket.disconnect()
      await fakes.untilNextSocket()
      fakes.server.socket.authenticate()
    },
  }
}
