import type { ApiError } from '@plenum/protocol/errors'
import type { LiveStateValue, Position } from '@plenum/protocol/realtime'
import { LiveStateEntry, type LiveStateHost } from './live-state.ts'

/** All live states of a document, and how far they are known. */
export class LiveStates {
  position: Position | undefined
  readonly #host: LiveStateHost
  readonly #entries = new Map<string, LiveStateEntry>()

  constructor(host: Omit<LiveStateHost, 'position'>) {
    this.#host = { ...host, position: () => this.position }
  }

  get(liveStateDataId: string): LiveStateEntry {
    const known = this.#entries.get(liveStateDataId)
    if (known) return known
    const entry = new LiveStateEntry(liveStateDataId, this.#host)
    this.#entries.set(liveStateDataId, entry)
    return entry
  }

  opened(position: Position, reset: boolean, states: readonly LiveStateValue[]): void {
    this.#apply(position, states, reset)
    for (const entry of this.#entries.values()) entry.opened()
  }

  /** False if these changes do not follow on what is known. */
  changed({ position, states }: { position: Position; states: readonly LiveStateValue[] }): boolean {
    if (this.position?.epoch !== position.epoch) return false
    if (position.seq < this.position.seq) return true
    this.#apply(position, states, false)
    return true
  }

  lost(): void {
    for (const entry of this.#entries.values()) entry.lost()
  }

  forget(): void {
    this.position = undefined
  }

  ended(error: ApiError): void {
    for (const entry of this.#entries.values()) entry.ended(error)
  }

  closed(error: ApiError): void {
    for (const entry of this.#entries.values()) entry.closed(error)
    this.#entries.clear()
  }

  #apply(position: Position, states: readonly LiveStateValue[], isAll: boolean): void {
    this.position = position
    const data = new Map(states.map((state) => [state.liveStateDataId, state.data]))
    for (const id of data.keys()) this.get(id)
    for (const [id, entry] of this.#entries) {
      if (isAll || data.has(id)) entry.store(data.get(id))
      entry.settle()
    }
  }
}
