import { LazyMap, LazySet } from '../../platform/lazy-collections.ts'
import type { Position } from '@plenum/protocol/realtime'
import type { SessionUser } from '../../access/sessions/session-access.ts'
import type { Visible } from '../../store/comments/audience.ts'
import type { readSince, StoredLiveState } from '../../store/documents/live-state-log.ts'
import { idOf } from '../../store/documents/live-states.ts'
import { RefFrames } from '../sockets/ref-frames.ts'
import {
  fieldsOf,
  filterThreads,
  type ChangedThreads,
  type ThreadAudience,
  ThreadFrames,
  viewedFrames,
  visibleIds,
  type VisibleThreads,
} from './changed-threads.ts'

export interface DocumentFeedDeps {
  /** Resolves with the values that changes after `seq` have set. Undefined if the document is gone. */
  read: (seq: number) => ReturnType<typeof readSince>
  /** Resolves with the annotations that changed after `from`, up to and including `to`, for these users. */
  readThreads: (range: { from: number; to: number }, userIds: readonly string[]) => Promise<ChangedThreads>
  /** Resolves with those of the annotations, by their numbers, in which nothing is unread for the user. */
  readViewed: (userId: string, numbers: readonly number[]) => Promise<ThreadAudience[]>
  /** Decides what a user may see. Undefined: everything. */
  visibleFor: (session: SessionUser) => Visible | undefined
  /** Resolves in a later iteration of the event loop. */
  pause?: () => Promise<void>
  /** The document was deleted, or another document has its id. */
  onGone: () => void
  onError: (error: unknown) => void
}

/** What changed between two positions. */
export interface FeedChange {
  /** The position before the change. */
  from: number
  /** The live states that changed. Null: none. `large`: the subscriber asks for them when it has a turn. */
  states: RefFrames | 'large' | null
  /** The threads that changed, as far as the subscriber may see them. Undefined: none, or they must be loaded again. */
  threads: RefFrames | undefined
  /** Whether the subscriber must load the threads again. */
  mustReloadThreads: boolean
}

/** Receives the changes of a document. */
export interface FeedSubscriber {
  readonly wantsLiveStates: boolean
  readonly wantsThreads: boolean
  readonly session: SessionUser
  /** The position has advanced. */
  onFeedChanged(change: FeedChange): void
  /** The user has viewed annotations. What is sent before this call is older. */
  onThreadsViewed(frames: RefFrames): void
  /** Changes could not be read. */
  onFeedLost(): void
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
 * The changes of an open document, as far as they have been broadcast: its live states, which are kept in memory, and its
 * comment threads, which are not. All changes, of clients and of backends, are read from the store in the order of their
 * numbers. So no position includes a change that was not broadcast.
 */
export class DocumentFeed {
  readonly #deps: DocumentFeedDeps
  readonly #subscribers = new LazySet<FeedSubscriber>()
  readonly #entries = new LazyMap<string, Entry>()
  /** The highest number of a change that this server was told of. */
  #announcedSeq = 0
  #position: Position | undefined
  /** The latest result of `bytesSince`. Callers share it as long as a frame still uses it. */
  #shared: { since: number; until: number | undefined; bytes: WeakRef<Buffer> } | undefined
  #reading: Promise<void> | undefined
  /** Whether a value was stored since the read began. */
  #isStale = false
  /** The numbers of annotations that users have viewed, by user, since the last read began. */
  #viewed = new Map<string, Set<number>>()
  /** How often the cache was dropped. The result of a read that began before a drop is discarded. */
  #dropCount = 0

  constructor(deps: DocumentFeedDeps) {
    this.#deps = deps
  }

  /** The position that the values have. Undefined until the values are loaded. */
  get position(): Position | undefined {
    return this.#position
  }

  /** The number of the newest change that this server knows, even if it has not read the change yet. */
  get newestSeq(): number {
    return Math.max(this.#announcedSeq, this.#position?.seq ?? 0)
  }

  /**
   * Resolves when the values are loaded, or are dropped meanwhile. Rejects if they cannot be read. A client that comes from
   * another server may have seen changes that this server has not read yet: they are read too.
   */
  async load(since?: Position): Promise<void> {
    if (!this.#position) await (this.#reading ?? this.#read())
    const isBehind = since && this.#position?.epoch === since.epoch && this.#position.seq < since.seq
    if (!isBehind) return
    this.#isStale = true
    await (this.#reading ?? this.#read())
  }

  subscribe(subscriber: FeedSubscriber): void {
    this.#subscribers.add(subscriber)
  }

  unsubscribe(subscriber: FeedSubscriber): void {
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

  /** The threads that changed after `seq`, for one subscriber, as fields of JSON. Undefined: they must be loaded again. */
  async threadsSince(
    seq: number,
    session: SessionUser,
  ): Promise<{ until: number; fields: string } | undefined> {
    const until = this.#position?.seq ?? 0
    const changes = await this.#deps.readThreads({ from: seq, to: until }, userIdsOf([session]))
    if (changes.isTooMany) return undefined
    const threads = await filterThreads(changes, seq, session, this.#deps.visibleFor(session))
    return threads && { until, fields: fieldsOf(threads) }
  }

  /** Call it when something was stored. Reads and broadcasts it if there are subscribers. */
  onStored(seq = 0): void {
    this.#announcedSeq = Math.max(this.#announcedSeq, seq)
    if (this.#reading) this.#isStale = true
    else if (this.#subscribers.size === 0) this.drop()
    else void this.#read().catch(() => this.#onReadFailed())
  }

  /**
   * Call it when a user has viewed annotations. What clients learn about unread comments is read in the order in which it is
   * sent, so that the newest state is sent last.
   */
  onViewed(userId: string, numbers: readonly number[]): void {
    if (this.#threadSubscribersOf(userId).length === 0) return
    const viewed = this.#viewed.get(userId) ?? new Set()
    this.#viewed.set(userId, viewed)
    for (const number of numbers) viewed.add(number)
    this.onStored()
  }

  #threadSubscribersOf(userId: string): FeedSubscriber[] {
    return [...this.#subscribers].filter(
      ({ wantsThreads, session }) => wantsThreads && session !== 'backend' && session.userId === userId,
    )
  }

  /** Drops all values. The next call of `load` reads them again. */
  drop(): void {
    this.#dropCount++
    this.#viewed.clear()
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
      const viewed = this.#viewed
      this.#viewed = new Map()
      const read = await this.#deps.read(this.#position?.seq ?? 0)
      if (dropCount !== this.#dropCount) return
      if (!read || (this.#position && this.#position.epoch !== read.position.epoch))
        return this.#deps.onGone()
      const entries = await this.#encode(read.states)
      const threads = await this.#readThreads(read.position)
      if (dropCount !== this.#dropCount) return
      this.#apply(entries, read.position, threads)
      for (const [userId, numbers] of viewed) await this.#sendViewed(userId, [...numbers])
      if (dropCount !== this.#dropCount) return
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

  /** The changed threads for each subscriber to threads, except subscribers that must load the threads again. */
  async #readThreads(position: Position): Promise<ReadonlyMap<FeedSubscriber, VisibleThreads> | undefined> {
    const from = this.#position?.seq
    if (from === undefined || from === position.seq) return undefined
    const subscribers = [...this.#subscribers].filter(({ wantsThreads }) => wantsThreads)
    if (subscribers.length === 0) return undefined
    const userIds = userIdsOf(subscribers.map(({ session }) => session))
    const changes = await this.#deps.readThreads({ from, to: position.seq }, userIds)
    const found = new Map<FeedSubscriber, VisibleThreads>()
    if (changes.isTooMany) return found
    for (const subscriber of subscribers) {
      const { session } = subscriber
      const threads = await filterThreads(changes, from, session, this.#deps.visibleFor(session))
      if (threads) found.set(subscriber, threads)
    }
    return found
  }

  async #sendViewed(userId: string, numbers: readonly number[]): Promise<void> {
    const viewed = await this.#deps.readViewed(userId, numbers)
    for (const subscriber of this.#threadSubscribersOf(userId)) {
      const ids = await visibleIds(viewed, this.#deps.visibleFor(subscriber.session))
      if (ids.length > 0 && this.#subscribers.has(subscriber)) subscriber.onThreadsViewed(viewedFrames(ids))
    }
  }

  #apply(
    entries: ReadonlyMap<string, Entry>,
    position: Position,
    threads: ReadonlyMap<FeedSubscriber, VisibleThreads> | undefined,
  ): void {
    const from = this.#position?.seq ?? 0
    this.#position = position
    let changedBytes = 0
    for (const [id, entry] of entries) {
      changedBytes += entry.bytes.length
      this.#entries.set(id, entry)
    }
    if (this.#subscribers.size === 0 || position.seq === from) return
    const positionField = `"position":${JSON.stringify(position)}`
    const states =
      entries.size === 0
        ? null
        : changedBytes < largeBytes
          ? new RefFrames('liveState', `${positionField},"states":`, this.bytesSince(from))
          : 'large'
    const frames = new ThreadFrames(positionField)
    for (const subscriber of this.#subscribers) {
      const { wantsThreads, wantsLiveStates } = subscriber
      const changed = threads?.get(subscriber)
      // If live states follow, only they carry the position: until then the client has not received everything up to it.
      const isLast = states === null || !wantsLiveStates
      subscriber.onFeedChanged({
        from,
        states,
        threads: changed && !changed.isEmpty ? frames.of(changed, isLast) : undefined,
        mustReloadThreads: wantsThreads && !changed,
      })
    }
  }

  #onReadFailed(): void {
    for (const subscriber of this.#subscribers) subscriber.onFeedLost()
    this.drop()
  }
}

const userIdsOf = (sessions: readonly SessionUser[]) => [
  ...new Set(sessions.flatMap((session) => (session === 'backend' ? [] : session.userId))),
]

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
