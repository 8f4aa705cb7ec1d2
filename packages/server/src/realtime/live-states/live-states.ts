import { LazyMap, LazySet } from '../../platform/lazy-collections.ts'
import type { Position } from '@plenum/protocol/realtime'
import type { readSince, StoredLiveState } from '../../store/documents/live-state-log.ts'
import { idOf } from '../../store/documents/live-states.ts'
import { RefFrames } from '../sockets/ref-frames.ts'

export interface LiveStatesDeps {
  /** Resolves with the values that changes after `seq` have set. Undefined if the document is gone. */
  read: (seq: number) => ReturnType<typeof readSince>
  /** Resolves in a later iteration of the event loop. */
  pause?: () => Promise<void>
  /** The document was deleted, or another document has its id. */
  onGone: () => void
  onError: (error: unknown) => void
}

/** Receives changes of live states. */
export interface LiveStateSubscriber {
  /**
   * The position has advanced. The frames contain the values that changes after the number `from` have set. `frames` is
   * undefined if the values are large: then the subscriber asks for them when it has a turn.
   */
  onLiveStatesChanged(frames: RefFrames | undefined, from: number): void
  /** Changes could not be read. */
  onLiveStatesLost(): void
}

/** From this size on, changes are not copied into one frame for each ref. */
const largeBytes = 64 * 1024
/** Encoding pauses after this time. Encoding 1 MiB takes up to 3 ms. */
const sliceMs = 5

interface Entry {
  /** The number of the change that set the value. */
  seq: number
  /** The value as clients receive it: the JSON of a `LiveStateValue`. */
  bytes: Buffer
}

/**
 * The live states of an open document, as far as they have been broadcast. All changes, of clients and of backends, are read
 * from the store in the order of their numbers. So no position includes a change that was not broadcast.
 */
export class LiveStates {
  readonly #deps: LiveStatesDeps
  readonly #subscribers = new LazySet<LiveStateSubscriber>()
  readonly #entries = new LazyMap<string, Entry>()
  #position: Position | undefined
  /** The latest result of `bytesSince`. Callers share it as long as a frame still uses it. */
  #shared: { since: number; until: number | undefined; bytes: WeakRef<Buffer> } | undefined
  #reading: Promise<void> | undefined
  /** Whether a value was stored since the read began. */
  #isStale = false
  /** How often the cache was dropped. The result of a read that began before a drop is discarded. */
  #dropCount = 0

  constructor(deps: LiveStatesDeps) {
    this.#deps = deps
  }

  /** The position that the values have. Undefined until the values are loaded. */
  get position(): Position | undefined {
    return this.#position
  }

  /** Resolves when the values are loaded, or are dropped meanwhile. Rejects if they cannot be read. */
  async load(): Promise<void> {
    if (!this.#position) await (this.#reading ?? this.#read())
  }

  subscribe(subscriber: LiveStateSubscriber): void {
    this.#subscribers.add(subscriber)
  }

  unsubscribe(subscriber: LiveStateSubscriber): void {
    this.#subscribers.delete(subscriber)
  }

  /** Returns the values that changes after `seq` have set, as a JSON array. Callers share the bytes of the latest call. */
  bytesSince(seq: number): Buffer {
    const until = this.#position?.seq
    const shared = this.#shared
    const known = shared?.since === seq && shared.until === until ? shared.bytes.deref() : undefined
    if (known) return known
    const parts: Buffer[] = []
    for (const entry of this.#entries.values()) {
      if (entry.seq > seq) parts.push(parts.length === 0 ? opening : comma, entry.bytes)
    }
    const bytes = Buffer.concat(parts.length === 0 ? [opening, closing] : [...parts, closing])
    this.#shared = { since: seq, until, bytes: new WeakRef(bytes) }
    return bytes
  }

  /** Call it when values were stored. Reads and broadcasts them if there are subscribers. */
  onStored(): void {
    if (this.#reading) this.#isStale = true
    else if (this.#subscribers.size === 0) this.drop()
    else void this.#read().catch(() => this.#onReadFailed())
  }

  /** Drops all values. The next call of `load` reads them again. */
  drop(): void {
    this.#dropCount++
    this.#entries.clear()
    this.#position = undefined
    this.#shared = undefined
    this.#reading = undefined
  }

  #read(): Promise<void> {
    const reading = this.#readUntilCurrent().finally(() => {
      if (this.#reading === reading) this.#reading = undefined
    })
    reading.catch(this.#deps.onError)
    this.#reading = reading
    return reading
  }

  async #readUntilCurrent(): Promise<void> {
    const dropCount = this.#dropCount
    do {
      this.#isStale = false
      const read = await this.#deps.read(this.#position?.seq ?? 0)
      if (dropCount !== this.#dropCount) return
      if (!read || (this.#position && this.#position.epoch !== read.position.epoch))
        return this.#deps.onGone()
      const entries = await this.#encode(read.states)
      if (dropCount !== this.#dropCount) return
      this.#apply(entries, read.position)
    } while (this.#isStale)
  }

  async #encode(states: readonly StoredLiveState[]): Promise<Map<string, Entry>> {
    const entries = new Map<string, Entry>()
    let pausedAt = performance.now()
    for (const state of states) {
      if (performance.now() - pausedAt > sliceMs) {
        await this.#deps.pause?.()
        pausedAt = performance.now()
      }
      entries.set(state.liveStateDataId, { seq: state.seq, bytes: encode(state) })
    }
    return entries
  }

  #apply(entries: ReadonlyMap<string, Entry>, position: Position): void {
    const from = this.#position?.seq ?? 0
    this.#position = position
    let changedBytes = 0
    for (const [id, entry] of entries) {
      changedBytes += entry.bytes.length
      this.#entries.set(id, entry)
    }
    if (this.#subscribers.size === 0 || position.seq === from) return
    const fields = `"position":${JSON.stringify(position)},"states":`
    const frames =
      changedBytes < largeBytes ? new RefFrames('liveState', fields, this.bytesSince(from)) : undefined
    for (const subscriber of this.#subscribers) subscriber.onLiveStatesChanged(frames, from)
  }

  #onReadFailed(): void {
    for (const subscriber of this.#subscribers) subscriber.onLiveStatesLost()
    this.drop()
  }
}

const [opening, comma, closing] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]

/** Builds the JSON of a value from texts, because the data is JSON already, and may be large. */
function encode({ liveStateDataId, json, userId, lastUpdated }: StoredLiveState): Buffer {
  const id = JSON.stringify(idOf(liveStateDataId))
  const name = JSON.stringify(liveStateDataId)
  const user = JSON.stringify(userId)
  return Buffer.from(
    `{"id":${id},"liveStateDataId":${name},"data":${json},"lastUpdated":${lastUpdated},"updatedBy":{"userId":${user}}}`,
  )
}
