import {
  applyAwarenessUpdate,
  Awareness,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness'
import type * as Y from 'yjs'

type State = Record<string, unknown>

/** The awareness of an editor: publishes the own state, and drops the states of other clients while disconnected. */
export class EditorAwareness {
  readonly awareness: Awareness
  readonly #onChange: () => void
  /** The own state, kept while the page is hidden. */
  #hidden: State | null = null

  /** `onChange` is called when the own state must be sent. */
  constructor(doc: Y.Doc, onChange: () => void) {
    this.awareness = new Awareness(doc)
    this.#onChange = onChange
    this.awareness.on('update', this.#onUpdate)
  }

  /** Encodes the own state. */
  encode(): Uint8Array {
    return encodeAwarenessUpdate(this.awareness, [this.awareness.clientID])
  }

  apply(update: Uint8Array): void {
    applyAwarenessUpdate(this.awareness, update, this)
  }

  /**
   * Publishes the own state with a clock two steps ahead. The server may have broadcast the removal of the state, which took
   * one step, and clients ignore a state that is not newer than the one they know.
   */
  announce(): void {
    const { awareness } = this
    const meta = awareness.meta.get(awareness.clientID)
    if (meta) awareness.meta.set(awareness.clientID, { ...meta, clock: meta.clock + 1 })
    const state = awareness.getLocalState()
    if (state !== null) awareness.setLocalState(state)
  }

  dropOthers(): void {
    const { awareness } = this
    const others = [...awareness.meta.keys()].filter((clientId) => clientId !== awareness.clientID)
    removeAwarenessStates(awareness, others, this)
    // With the old clocks, the states after a reconnect would look stale and be ignored.
    for (const clientId of others) awareness.meta.delete(clientId)
  }

  /** Removes the own state while the page is hidden. */
  hide(): void {
    this.#hidden = this.awareness.getLocalState()
    this.awareness.setLocalState(null)
  }

  /** Restores what `hide` removed, unless the application has set another state. */
  show(): void {
    if (this.#hidden && this.awareness.getLocalState() === null) this.awareness.setLocalState(this.#hidden)
    this.#hidden = null
  }

  destroy(): void {
    this.awareness.off('update', this.#onUpdate)
    this.awareness.destroy()
  }

  #onUpdate = ({ added, updated, removed }: Record<string, number[]>, origin: unknown): void => {
    const own = this.awareness.clientID
    if (origin !== this && [added, updated, removed].some((clientIds) => clientIds?.includes(own)))
      this.#onChange()
  }
}
