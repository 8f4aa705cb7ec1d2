import { equalityDeep } from 'lib0/function'
import { ApiError } from '@plenum/protocol/errors'
import { type ClientMessage, limits, type LiveStateValue, type Position } from '@plenum/protocol/realtime'
import { byteLength, checkData, copyOf } from '../checks.ts'
import { Listeners, type Unsubscribe } from '../../platform/listeners.ts'
import { combine, type Data, lay, type Write } from './live-state-write.ts'
import { Retry } from '../../platform/retry.ts'

export interface LiveState<T extends object = Record<string, unknown>> {
  readonly liveStateDataId: string
  /** The stored value with the own changes that are on their way; another object after each change. */
  readonly value: T | undefined
  /** Called at each change, not at once. */
  subscribe(listener: (value: T | undefined) => void): Unsubscribe
  /**
   * Replaces the value. Resolves when that is durable, after the next connection if there is none; what is set meanwhile
   * replaces what waits. Rejects with an `ApiError` when it is refused, and then the value is what it was.
   */
  set(data: T, options?: { merge?: false }): Promise<void>
  /** Lays the keys over the value, one level deep. */
  set(data: Partial<T>, options: { merge: true }): Promise<void>
}

type SetLiveState = Omit<ClientMessage & { type: 'setLiveState' }, 'ref' | 'id'>

export interface LiveStateHost {
  /** How far the stored values are known. */
  position(): Position | undefined
  /** Why nothing will be sent any more. */
  failure(): ApiError | undefined
  /** False if there is no connection; then the answer never comes. */
  request(message: SetLiveState, answer: (outcome: Position | ApiError) => void): boolean
  refused(error: ApiError): void
}

/** For the numbers that a message is given when it is sent. */
const headroomBytes = 100

const isCovered = (one: Position, by: Position | undefined) =>
  by !== undefined && (one.epoch !== by.epoch || one.seq <= by.seq)

/** One value under its id. At most one change is on its way; later ones wait and become one. */
export class LiveStateEntry implements LiveState {
  readonly liveStateDataId: string
  value: Data | undefined
  readonly #host: LiveStateHost
  readonly #listeners = new Listeners<Data | undefined>()
  #stored: Data | undefined
  /** Durable, but the server's own word of it has not arrived: without it the old value would shine up. */
  #confirmed: (Write & { position: Position }) | undefined
  #sent: Write | undefined
  #isOnItsWay = false
  #queued: Write | undefined
  /** After the server could not store it. */
  readonly #retry = new Retry(() => this.#flush())

  constructor(liveStateDataId: string, host: LiveStateHost) {
    this.liveStateDataId = liveStateDataId
    this.#host = host
  }

  subscribe(listener: (value: Data | undefined) => void): Unsubscribe {
    return this.#listeners.add(listener)
  }

  set(data: object, { merge = false }: { merge?: boolean } = {}): Promise<void> {
    const done = this.#queue(data, merge)
    // Whoever does not wait for it hears of a refusal by the `error` event; nothing is to end a process.
    done.catch(() => {})
    return done
  }

  async #queue(data: object, merge: boolean): Promise<void> {
    const failure = this.#host.failure()
    if (failure) {
      this.#host.refused(failure)
      throw failure
    }
    const next = combine(this.#queued, { data: copyOf(data), merge, waiting: [] })
    checkData(next.data)
    if (byteLength(this.#message(next)) + headroomBytes > limits.jsonBytes) {
      throw new ApiError('INVALID_ARGUMENT', 'Live state must not be larger than 1 MiB.')
    }
    const durable = new Promise<void>((resolve, reject) => next.waiting.push({ resolve, reject }))
    this.#queued = next
    this.#update()
    this.#flush()
    return durable
  }

  /** A connection is there. */
  opened(): void {
    this.#retry.cancel()
    this.#flush()
  }

  /** Whether what was sent has arrived is unknown: it is sent again. */
  lost(): void {
    this.#retry.cancel()
    this.#isOnItsWay = false
  }

  /** The server's word, or that it has none. */
  store(data: LiveStateValue['data'] | undefined): void {
    this.#stored = data
    this.#update()
  }

  /** The position has changed. */
  settle(): void {
    if (!this.#confirmed || !isCovered(this.#confirmed.position, this.#host.position())) return
    this.#confirmed = undefined
    this.#update()
  }

  ended(error: ApiError): void {
    const waiting = [...(this.#sent?.waiting ?? []), ...(this.#queued?.waiting ?? [])]
    this.#sent = this.#queued = undefined
    this.#retry.cancel()
    this.#update()
    for (const { reject } of waiting) reject(error)
  }

  closed(error: ApiError): void {
    this.ended(error)
    this.#listeners.clear()
  }

  #flush(): void {
    if (this.#isOnItsWay || this.#retry.waiting) return
    if (this.#sent && this.#queued && !this.#queued.merge) {
      this.#queued = combine(this.#sent, this.#queued)
      this.#sent = undefined
    }
    const write = this.#sent ?? this.#queued
    if (!write) return
    if (!this.#host.request(this.#message(write), (outcome) => this.#answered(write, outcome))) return
    this.#isOnItsWay = true
    if (write === this.#sent) return
    this.#sent = write
    this.#queued = undefined
  }

  #message({ data, merge }: Write): SetLiveState {
    return {
      type: 'setLiveState',
      liveStateDataId: this.liveStateDataId,
      data,
      ...(merge && { merge }),
    }
  }

  #answered(write: Write, outcome: Position | ApiError): void {
    if (this.#sent !== write) return
    const isRefused = outcome instanceof ApiError
    if (isRefused && outcome.status === 'UNAVAILABLE') {
      this.lost()
      return this.#retry.later()
    }
    this.#sent = undefined
    this.#isOnItsWay = false
    this.#retry.reset()
    if (!isRefused && !isCovered(outcome, this.#host.position())) {
      this.#confirmed = { ...combine(this.#confirmed, write), waiting: [], position: outcome }
    }
    this.#update()
    this.#flush()
    for (const { resolve, reject } of write.waiting) {
      if (isRefused) reject(outcome)
      else resolve()
    }
    if (isRefused) this.#host.refused(outcome)
  }

  #update(): void {
    const value = lay(lay(lay(this.#stored, this.#confirmed), this.#sent), this.#queued)
    if (value === this.value || equalityDeep(value, this.value)) return
    this.value = value
    this.#listeners.emit(value)
  }
}
