import { equalityDeep } from 'lib0/function'
import { ApiError } from '@plenum/protocol/errors'
import { type ClientMessage, limits, type LiveStateValue, type Position } from '@plenum/protocol/realtime'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import { Retry } from '../../platform/retry.ts'
import { byteLength, checkData, copyData } from '../checks.ts'
import type { LiveState } from './live-state.ts'
import { applyWrite, combine, type Data, type Write } from './live-state-write.ts'

type SetLiveState = Omit<ClientMessage & { type: 'setLiveState' }, 'ref' | 'id'>

export interface LiveStateDeps {
  /** The position up to which the stored values are known. */
  position(): Position | undefined
  /** Why nothing can be sent any more. */
  failure(): ApiError | undefined
  /** Returns false if the document is not open. `onOutcome` is then never called. */
  request(message: SetLiveState, onOutcome: (outcome: Position | ApiError) => void): boolean
  reportError(error: ApiError): void
}

/** Room for `ref` and `id`, which a message gets when it is sent. */
const headroomBytes = 100

/** Whether a document at the position `by` has the change at `position`, or is another document under the same ids. */
const isCovered = (position: Position, by: Position | undefined) =>
  by !== undefined && (position.epoch !== by.epoch || position.seq <= by.seq)

interface SentWrite {
  write: Write
  /** False after the connection was lost or the server could not store the write: then it is sent again. */
  isInFlight: boolean
}

/** One live state. At most one write is in flight; later writes wait and are combined. */
export class LiveStateEntry implements LiveState {
  readonly liveStateDataId: string
  value: Data | undefined
  readonly #deps: LiveStateDeps
  readonly #listeners = new Listeners<Data | undefined>()
  #stored: Data | undefined
  /**
   * The writes that the server has stored but not broadcast yet. Without them, the previous value would reappear until the
   * broadcast.
   */
  #confirmed: (Write & { position: Position }) | undefined
  #sent: SentWrite | undefined
  #queued: Write | undefined
  /** Sends a write again that the server could not store. */
  readonly #retry = new Retry(() => this.#flush())

  constructor(liveStateDataId: string, deps: LiveStateDeps) {
    this.liveStateDataId = liveStateDataId
    this.#deps = deps
  }

  subscribe(listener: (value: Data | undefined) => void): Unsubscribe {
    return this.#listeners.add(listener)
  }

  set(data: object, { merge = false }: { merge?: boolean } = {}): Promise<void> {
    const promise = this.#enqueue(data, merge)
    // A caller that ignores the promise gets the `error` event. An unhandled rejection would end a Node process.
    promise.catch(() => {})
    return promise
  }

  async #enqueue(data: object, merge: boolean): Promise<void> {
    const failure = this.#deps.failure()
    if (failure) {
      this.#deps.reportError(failure)
      throw failure
    }
    const next = combine(this.#queued, { data: copyData(data), merge, waiters: [] })
    checkData(next.data)
    if (byteLength(this.#messageFor(next)) + headroomBytes > limits.jsonBytes) {
      throw new ApiError('INVALID_ARGUMENT', 'Live state must not be larger than 1 MiB.')
    }
    const durable = new Promise<void>((resolve, reject) => next.waiters.push({ resolve, reject }))
    this.#queued = next
    this.#updateValue()
    this.#flush()
    return durable
  }

  /** The document is open: writes can be sent. */
  onOpened(): void {
    this.#retry.cancel()
    this.#flush()
  }

  /** Whether a sent write has arrived is unknown, so it is sent again. */
  onLost(): void {
    this.#retry.cancel()
    if (this.#sent) this.#sent.isInFlight = false
  }

  /** Sets the value that the server has stored. Undefined: the server has none. */
  store(data: LiveStateValue['data'] | undefined): void {
    this.#stored = data
    this.#updateValue()
  }

  onPositionChange(): void {
    if (!this.#confirmed || !isCovered(this.#confirmed.position, this.#deps.position())) return
    this.#confirmed = undefined
    this.#updateValue()
  }

  /** Rejects all writes, because the document ended. */
  rejectAll(error: ApiError): void {
    const waiters = [...(this.#sent?.write.waiters ?? []), ...(this.#queued?.waiters ?? [])]
    this.#sent = this.#queued = undefined
    this.#retry.cancel()
    this.#updateValue()
    for (const { reject } of waiters) reject(error)
  }

  close(error: ApiError): void {
    this.rejectAll(error)
    this.#listeners.clear()
  }

  #flush(): void {
    if (this.#sent?.isInFlight || this.#retry.isScheduled) return
    if (this.#sent && this.#queued && !this.#queued.merge) {
      // The queued write replaces the whole value, so the sent one need not be repeated.
      this.#queued = combine(this.#sent.write, this.#queued)
      this.#sent = undefined
    }
    const write = this.#sent?.write ?? this.#queued
    if (!write) return
    if (!this.#deps.request(this.#messageFor(write), (outcome) => this.#onOutcome(write, outcome))) return
    if (!this.#sent) this.#queued = undefined
    this.#sent = { write, isInFlight: true }
  }

  #messageFor({ data, merge }: Write): SetLiveState {
    return {
      type: 'setLiveState',
      liveStateDataId: this.liveStateDataId,
      data,
      ...(merge && { merge }),
    }
  }

  #onOutcome(write: Write, outcome: Position | ApiError): void {
    if (this.#sent?.write !== write) return
    const isRefused = outcome instanceof ApiError
    if (isRefused && outcome.status === 'UNAVAILABLE') {
      this.onLost()
      return this.#retry.schedule()
    }
    this.#sent = undefined
    this.#retry.reset()
    if (!isRefused && !isCovered(outcome, this.#deps.position())) {
      this.#confirmed = { ...combine(this.#confirmed, write), waiters: [], position: outcome }
    }
    this.#updateValue()
    this.#flush()
    for (const { resolve, reject } of write.waiters) {
      if (isRefused) reject(outcome)
      else resolve()
    }
    if (isRefused) this.#deps.reportError(outcome)
  }

  #updateValue(): void {
    const confirmed = applyWrite(this.#stored, this.#confirmed)
    const value = applyWrite(applyWrite(confirmed, this.#sent?.write), this.#queued)
    if (value === this.value || equalityDeep(value, this.value)) return
    this.value = value
    this.#listeners.emit(value)
  }
}
