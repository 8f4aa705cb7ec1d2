import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import type { EditorRef } from '../../store/refs.ts'
import { docIdPattern, parseDocId } from '../documents/editor-name.ts'
import { emptyAwareness } from '../rooms/awareness/awareness-update.ts'
import type { DialectClient, DialectContext } from './dialect.ts'
import { SyncStatus } from './sync-status.ts'
import { frameWith, YjsClient, yjsCodec, type YjsVariant } from './yjs.ts'

/** The message type with which a client sends the version of its latest change, and gets it back once that is durable. */
const syncStatusType = 102

/** Creates a client of `@y-sweet/client`: y-websocket with a sync status. `path` is `d/{docId}/ws/{docId}`. */
export function createYSweetClient(context: DialectContext, path: string): DialectClient {
  return new YjsClient(context, editorRefOfPath(path), createVariant())
}

/** Returns undefined if the path is malformed. The path contains the id twice, and the id may contain `/ws/` itself. */
function editorRefOfPath(path: string): EditorRef | undefined {
  const separator = '/ws/'
  const docId = path.slice('d/'.length, (path.length + 'd/'.length - separator.length) / 2)
  return path === `d/${docId}${separator}${docId}` ? parseDocId(docId) : undefined
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
      // Nothing is sent: the client goes on showing that it has unsaved changes, which is true.
      refused(number) {
        status.onRefused(number)
        return undefined
      },
    },
    namePattern: docIdPattern,
    mayCreate: false,
    numberOf: (isStep2) => status.add(isStep2),
    receive(type, decoder, session) {
      if (type !== syncStatusType) return
      const bytes = decoding.readVarUint8Array(decoder)
      status.request(decoding.readVarUint(decoding.createDecoder(bytes)))
      // The client reconnects after 3 s of silence. So it gets a message without effect if the version is not durable yet.
      session.send(takeStatusFrame() ?? yjsCodec.awareness(emptyAwareness))
    },
  }
}
