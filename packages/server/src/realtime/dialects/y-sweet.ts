import * as decoding from 'lib0/decoding'
import * as encoding from 'lib0/encoding'
import { emptyAwareness } from '../rooms/awareness/awareness-update.ts'
import type { Arrival, DialectClient } from '../gateway.ts'
import type { Place } from '../../store/editors/editors.ts'
import { docIdPattern, placeOfDocId } from '../documents/place.ts'
import { SyncStatus } from './sync-status.ts'
import { type Variant, voice, withBytes, YjsClient } from './yjs.ts'

/** The client sends the number of its latest change, and hears it again when that is durable. */
const syncStatus = 102

/** The protocol of `@y-sweet/client`: that of y-websocket with a status. `name`: `d/{docId}/ws/{docId}`. */
export function createYSweetClient(arrival: Arrival, name: string): DialectClient {
  return new YjsClient(arrival, placeAt(name), createVariant())
}

/** The id is there twice, and may hold `/ws/` itself. */
function placeAt(name: string): Place | undefined {
  const separator = '/ws/'
  const docId = name.slice('d/'.length, (name.length + 'd/'.length - separator.length) / 2)
  return name === `d/${docId}${separator}${docId}` ? placeOfDocId(docId) : undefined
}

function createVariant(): Variant {
  const status = new SyncStatus()
  const answer = () => {
    const version = status.takeDurable()
    if (version === undefined) return undefined
    return withBytes(
      [syncStatus],
      encoding.encode((encoder) => encoding.writeVarUint(encoder, version)),
    )
  }
  return {
    voice: {
      ...voice,
      saved(number) {
        status.saved(number)
        return answer()
      },
      // Stock clients ignore the message: they go on having changes that are not saved.
      refused(number) {
        status.refused(number)
        return undefined
      },
    },
    namePattern: docIdPattern,
    mayCreate: false,
    numberOf: (isAnswer) => status.add(isAnswer),
    receive(type, decoder, session) {
      if (type !== syncStatus) return
      const bytes = decoding.readVarUint8Array(decoder)
      status.ask(decoding.readVarUint(decoding.createDecoder(bytes)))
      // A client that hears nothing for 3 s connects again, so something without meaning is sent when the answer must wait.
      session.send(answer() ?? voice.awareness(emptyAwareness))
    },
  }
}
