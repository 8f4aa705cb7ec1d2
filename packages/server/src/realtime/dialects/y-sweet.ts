import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { EditorRef } from '../../store/refs.ts'
import { docIdPattern, parseDocId } from '../documents/editor-name.ts'
import { emptyAwareness } from '../rooms/awareness/awareness-update.ts'
import type { DialectClient, DialectContext } from './dialect.ts'
import { SyncStatus } from './sync-status.ts'
import { frameWith, YjsClient, yjsCodec, type YjsVariant } from './yjs.ts'

/** The client sends the version of its latest change. The server sends it back once that change is durable. */
const syncStatusType = 102

/** A client of `@y-sweet/client`: the protocol of y-websocket with a sync status. `name`: `d/{docId}/ws/{docId}`. */
export function createYSweetClient(context: DialectContext, name: string): DialectClient {
  return new YjsClient(context, placeAt(name), createVariant())
}

/** The name contains the id twice, and the id may contain `/ws/` itself. */
function placeAt(name: string): EditorRef | undefined {
  const separator = '/ws/'
  const docId = name.slice('d/'.length, (name.length + 'd/'.length - separator.length) / 2)
  return name === `d/${docId}${separator}${docId}` ? parseDocId(docId) : undefined
}

function createVariant(): YjsVariant {
  const status = new SyncStatus()
  const takeStatusFrame = () => {
    const version = status.takeDurable()
    if (version === undefined) return undefined
    return frameWith(
      [syncStatusType],
      encoding.encode((encoder) => encoding.writeVarUint(encoder, version)),
    )
  }
  return {
    codec: {
      ...yjsCodec,
      saved(number) {
        status.onSaved(number)
        return takeStatusFrame()
      },
      // Nothing is sent: the client keeps showing unsaved changes, which is true.
      refused(number) {
        status.onRefused(number)
        return undefined
      },
    },
    namePattern: docIdPattern,
    mayCreate: false,
    numberOf: (isAnswer) => status.add(isAnswer),
    receive(type, decoder, session) {
      if (type !== syncStatusType) return
      const bytes = decoding.readVarUint8Array(decoder)
      status.request(decoding.readVarUint(decoding.createDecoder(bytes)))
      // The client reconnects after 3 s of silence, so it gets a message without effect while the status must wait.
      session.send(takeStatusFrame() ?? yjsCodec.awareness(emptyAwareness))
    },
  }
}
