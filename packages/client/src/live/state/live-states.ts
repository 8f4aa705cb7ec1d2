import type { ApiError } from '@plenum/protocol/errors'
import type { LiveStateValue, Position } from '@plenum/protocol/realtime'
import { type LiveStateDeps, LiveStateEntry } from './live-state-entry.ts'

/** All live states of a document, and the position up to which they are known. */
export class LiveStates {
  position: Position | undefined
  readonly #deps: LiveStateDeps
  readonly #entries = new Map<string, LiveStateEntry>()

  constructor(deps: Omit<LiveStateDeps, 'position'>) {
    this.#deps = { ...deps, position: () => this.position }
  }

  get(liveStateDataId: string): LiveStateEntry {
    const known = this.#entries.get(liveStateDataId)
    if (known) return known
    const entry = new LiveStateEntry(liveStateDataId, this.#deps)
    this.#entries.set(liveStateDataId, entry)
    return entry
  }

  onOpened(position: Position, isReset: boolean, states: readonly LiveStateValue[]): void {
    this.#apply(position, states, isReset)
    for (const entry of this.#entries.values()) entry.onOpened()
  }

  /** Returns false if the changes belong to another epoch than the known position. */
  applyChanges({ position, states }: { position: Position; states: readonly LiveStateValue[] }): boolean {
    if (this.position?.epoch !== position.epoch) return false
    if (position.seq < this.position.seq) return true
    this.#apply(position, states, false)
    return true
  }

  onLost(): void {
    for (const entry of this.#entries.values()) entry.onLost()
  }

  /** Drops the position, so that the next opening requests all values. */
  dropPosition(): void {
    this.position = undefined
  }

  rejectAll(error: ApiError): void {
    for (const entry of this.#entries.values()) entry.rejectAll(error)
  }

  close(error: ApiError): void {
    for (const entry of this.#entries.values()) entry.close(error)
    this.#entries.clear()
  }

  /** `isComplete`: a value that is not listed does not exist. */
  #apply(position: Position, states: readonly LiveStateValue[], isComplete: boolean): void {
    this.position = position
    const dataById = new Map(states.map((state) => [state.liveStateDataId, state.data]))
    for (const id of dataById.keys()) this.get(id)
    for (const [id, entry] of this.#entries) {
      if (isComplete || dataById.has(id)) entry.store(dataById.get(id))
      entry.onPositionChange()
    }
  }
}
