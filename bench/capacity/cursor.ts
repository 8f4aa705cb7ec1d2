import * as encoding from 'lib0/encoding'
import { Awareness, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'

// The kind of a frame of y-websocket.
const awarenessKind = 1

/** The cursor of a client of y-websocket, with the name that editors show beside it. */
export class Cursor {
  readonly #doc = new Y.Doc()
  readonly #awareness: Awareness
  #position = 0

  constructor(clientId: number) {
    this.#doc.clientID = clientId
    this.#awareness = new Awareness(this.#doc)
  }

  /** Returns the frame that moves the cursor. */
  move(): Uint8Array {
    const at = { type: { client: this.#doc.clientID, clock: this.#position++ }, assoc: 0 }
    this.#awareness.setLocalState({
      user: { name: 'Ada', color: '#30bced' },
      cursor: { anchor: at, head: at },
    })
    const encoder = encoding.createEncoder()
    encoding.writeVarUint(encoder, awarenessKind)
    encoding.writeVarUint8Array(encoder, encodeAwarenessUpdate(this.#awareness, [this.#doc.clientID]))
    return encoding.toUint8Array(encoder)
  }

  /** Ends the timers of the cursor. */
  close(): void {
    this.#awareness.destroy()
    this.#doc.destroy()
  }
}
