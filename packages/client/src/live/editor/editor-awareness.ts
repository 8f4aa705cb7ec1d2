import {
  applyAwarenessUpdate,
  Awareness,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness'
import type * as Y from 'yjs'

type State = Record<string, unknown>

/** The awareness of an editor: tells of the own state, and forgets the others' when nobody tells of them any more. */
export class EditorAwareness {
  readonly awareness: Awareness
  readonly #changed: () => void
  #putAway: State | null = null

  /** `changed`: the own state has to be sent. */
  constructor(doc: Y.Doc, changed: () => void) {
    this.awareness = new Awareness(doc)
    this.#changed = changed
    this.awareness.on('update', this.#updated)
  }

  /** The own state as it is sent. */
  encode(): Uint8Array {
    return encodeAwarenessUpdate(this.awareness, [this.awareness.clientID])
  }

  apply(update: Uint8Array): void {
    applyAwarenessUpdate(this.awareness, update, this)
  }

  /** Tells of the own state as news, also to those who were told that it is gone, which is one step later. */
  announce(): void {
    const { awareness } = this
    const meta = awareness.meta.get(awareness.clientID)
    if (meta) awareness.meta.set(awareness.clientID, { ...meta, clock: meta.clock + 1 })
    const state = awareness.getLocalState()
    if (state !== null) awareness.setLocalState(state)
  }

  forgetOthers(): void {
    const { awareness } = this
    const others = [...awareness.meta.keys()].filter((client) => client !== awareness.clientID)
    removeAwarenessStates(awareness, others, this)
    // With the old clocks, what comes after the reconnect would be taken for old.
    for (const client of others) awareness.meta.delete(client)
  }

  putAway(): void {
    this.#putAway = this.awareness.getLocalState()
    this.awareness.setLocalState(null)
  }

  takeOut(): void {
    if (this.#putAway && this.awareness.getLocalState() === null) this.awareness.setLocalState(this.#putAway)
    this.#putAway = null
  }

  destroy(): void {
    this.awareness.off('update', this.#updated)
    this.awareness.destroy()
  }

  #updated = ({ added, updated, removed }: Record<string, number[]>, origin: unknown): void => {
    const own = this.awareness.clientID
    if (origin !== this && [added, updated, removed].some((clients) => clients?.includes(own)))
      this.#changed()
  }
}
