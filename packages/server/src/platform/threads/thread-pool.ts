import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import { type Clock, type StopTimer, systemClock } from '../clock.ts'
import { LaneQuota } from '../lane-quota.ts'
import { RefusedContents } from './refused-contents.ts'
import { type Message, Stopped, Thread, ThreadTimeout } from './thread.ts'

/** Thrown if no thread had time for the work within `waitMs`. */
export class ThreadsBusy extends Error {
  override name = 'ThreadsBusy'
}

/** Thrown if the lane has too much work in progress. */
export class LaneFull extends Error {
  override name = 'LaneFull'
}

export interface Work {
  /** The owner of the work. Lanes take turns, and no lane gets all threads. */
  lane: string
  /**
   * Identifies the bytes that the work reads. After work ran into its time limit, work on the same content is refused for a
   * while.
   */
  content: string
  /** Memory that the work holds until it ends. */
  bytes: number
  /** Whether no request waits for the work. Then it runs only if another quick thread stays free, and one job at a time. */
  isBackground?: boolean
  /** How long the work may wait for a thread. Default: no limit. */
  waitMs?: number
  /** Builds the message to the thread. Called when a thread is ready, and again if the work has to start over. */
  message: () => Message
}

export interface PoolOptions {
  /** Threads for work that has just started, and how many of them one lane may have. */
  quickThreads?: number
  maxQuickPerLane?: number
  /** Threads for work that takes more than `slowAfterMs` of processor time. A lane has one of them at a time. */
  slowThreads?: number
  slowAfterMs?: number
  /** Limits of what one lane may have in progress. */
  maxJobsPerLane?: number
  maxBytesPerLane?: number
  /** How long work on a content is refused after work on it ran into its time limit. */
  refuseMs?: number
  clock?: Clock
}

/**
 * One thread for each processor, but at most three, because further threads would only take time from the event loop. At
 * least two, so that one lane cannot have all.
 */
const quickThreads = Math.max(2, Math.min(3, availableParallelism()))

const defaults: Required<PoolOptions> = {
  quickThreads,
  maxQuickPerLane: quickThreads - 1,
  slowThreads: 2,
  slowAfterMs: 100,
  maxJobsPerLane: 200,
  maxBytesPerLane: 128 * 1024 * 1024,
  refuseMs: 60_000,
  clock: systemClock,
}

interface Lane {
  name: string
  /** Jobs that wait or run. */
  jobs: number
  /**
   * The number of the start of its last job. All starts of the pool are numbered; 0: never. The lane with the lowest number
   * is next.
   */
  lastTurn: number
}

type Queue = 'quick' | 'slow' | 'background'

interface Job extends Work {
  owner: Lane
  resolve: (answer: unknown) => void
  reject: (error: Error) => void
  /** Stops the timeout of waiting for a thread. */
  stopWaiting: StopTimer | undefined
}

interface Running {
  job: Job
  thread: Thread
  /**
   * `overdue`: slow work that still has a quick thread. `stopping`: its thread is being stopped, and the work starts over
   * as slow work.
   */
  state: 'quick' | 'overdue' | 'slow' | 'stopping'
  /** Stops the timer that checks whether the work is slow. */
  stopCheck: StopTimer | undefined
}

/** How many threads are started before they are needed. Two lanes may start work at the same moment. */
const spareThreads = 2

/**
 * The shortest time between two checks whether work is slow. The processor time of a thread that waits for a processor does
 * not grow, so without this limit it could be checked every millisecond.
 */
const minCheckMs = 20

/** For how many idle lanes the last turn is remembered. */
const maxLastTurns = 1_000

/**
 * Worker threads that lanes share. All work starts on a quick thread. Work that turns out to be slow continues there, and its
 * thread then counts as a slow one, if its lane may have a slow thread. Otherwise the work is overdue: it keeps the quick
 * thread until other work needs that. Then the work is stopped, and starts over when a slow thread is free. So other lanes
 * wait about `slowAfterMs` at most, however long the work of one lane takes.
 *
 * Next is the lane whose last start is the longest ago, also if it was idle since. Work takes seconds, and a lane that sends
 * one job after the other would otherwise overtake the waiting lanes.
 */
export class ThreadPool {
  readonly #options: Required<PoolOptions>
  readonly #start: () => Worker | Promise<Worker>
  readonly #lanes = new Map<string, Lane>()
  readonly #quota: LaneQuota
  /** The last turns of lanes without jobs. */
  readonly #lastTurns = new Map<string, number>()
  readonly #queues: Record<Queue, Set<Job>> = { quick: new Set(), slow: new Set(), background: new Set() }
  /** The work that runs, in the order in which it started. */
  readonly #running = new Set<Running>()
  readonly #free: Thread[] = []
  readonly #refused: RefusedContents
  /** How many jobs have started. */
  #starts = 0
  #isClosed = false

  constructor(start: () => Worker | Promise<Worker>, options: PoolOptions = {}) {
    this.#start = start
    this.#options = { ...defaults, ...options }
    const { maxJobsPerLane, maxBytesPerLane, refuseMs, clock } = this.#options
    this.#quota = new LaneQuota({ maxJobs: maxJobsPerLane, maxBytes: maxBytesPerLane })
    this.#refused = new RefusedContents(refuseMs, clock)
  }

  run(work: Work): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closed())
      const refusal = this.#refused.reasonFor(work.content)
      if (refusal) return reject(refusal)
      if (!this.#quota.add(work.lane, work.bytes)) {
        return reject(new LaneFull('Too much work of this lane is in progress.'))
      }
      const owner = this.#laneOf(work.lane)
      owner.jobs++
      const job: Job = { ...work, owner, resolve, reject, stopWaiting: undefined }
      this.#enqueue(job, work.isBackground ? 'background' : 'quick')
      this.#startNext()
    })
  }

  #enqueue(job: Job, queue: Queue): void {
    this.#queues[queue].add(job)
    const { waitMs } = job
    if (waitMs === undefined) return
    job.stopWaiting = this.#options.clock.setTimeout(() => {
      this.#queues[queue].delete(job)
      this.#settle(job, () => job.reject(new ThreadsBusy(`No thread had time within ${waitMs} ms.`)))
    }, waitMs)
  }

  /** Closes all threads. Work in progress and waiting work fails. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#failWaiting(closed())
    const threads = [...this.#free, ...Array.from(this.#running, ({ thread }) => thread)]
    await Promise.all(threads.map((thread) => thread.close()))
  }

  #laneOf(name: string): Lane {
    let lane = this.#lanes.get(name)
    if (!lane) this.#lanes.set(name, (lane = { name, jobs: 0, lastTurn: this.#lastTurns.get(name) ?? 0 }))
    return lane
  }

  #settle({ owner, bytes, stopWaiting }: Job, settle: () => void): void {
    stopWaiting?.()
    this.#quota.remove(owner.name, bytes)
    if (--owner.jobs === 0) this.#dropLane(owner)
    settle()
  }

  #dropLane({ name, lastTurn }: Lane): void {
    this.#lanes.delete(name)
    this.#lastTurns.delete(name)
    this.#lastTurns.set(name, lastTurn)
    const [oldest] = this.#lastTurns.keys()
    if (oldest !== undefined && this.#lastTurns.size > maxLastTurns) this.#lastTurns.delete(oldest)
  }

  #startNext(): void {
    const { quickThreads, maxQuickPerLane } = this.#options
    this.#begin('slow', (lane) => this.#mayHaveSlowThread(lane))
    for (const one of this.#running) if (one.state === 'overdue') this.#becomeSlow(one)
    this.#begin(
      'quick',
      (lane) => this.#quickBusy() < quickThreads && this.#quickBusy(lane) < maxQuickPerLane,
    )
    for (const { owner } of this.#queues.quick) {
      this.#stopOverdue(this.#quickBusy(owner) < maxQuickPerLane ? undefined : owner)
    }
    // One thread stays free for work that a request waits for.
    this.#begin('background', () => this.#quickBusy() < quickThreads - 1 && !this.#hasBackground())
  }

  #count(isCounted: (one: Running) => boolean): number {
    let count = 0
    for (const one of this.#running) if (isCounted(one)) count++
    return count
  }

  /** How many quick threads are busy. With `lane`: with work of this lane. */
  #quickBusy(lane?: Lane): number {
    return this.#count(({ state, job }) => state !== 'slow' && (!lane || job.owner === lane))
  }

  /** Whether a slow thread is free and the lane has none yet. */
  #mayHaveSlowThread(lane: Lane): boolean {
    const isSlow = ({ state }: Running) => state === 'slow'
    if (this.#count((one) => isSlow(one) && one.job.owner === lane) > 0) return false
    return this.#count(isSlow) < this.#options.slowThreads
  }

  #hasBackground(): boolean {
    return this.#count(({ job }) => job.isBackground === true) > 0
  }

  /**
   * Turns overdue work into slow work if a slow thread is free for it. A stopped job that waits for a slow thread comes
   * first.
   */
  #becomeSlow(one: Running): void {
    const mayBecomeSlow =
      this.#mayHaveSlowThread(one.job.owner) && !this.#nextIn('slow', (lane) => this.#mayHaveSlowThread(lane))
    one.state = mayBecomeSlow ? 'slow' : 'overdue'
    if (one.state === 'slow') one.thread.lowerPriority()
  }

  /**
   * Stops the overdue work that started first, unless other work is being stopped already. With `lane`: among the work of
   * this lane.
   */
  #stopOverdue(lane?: Lane): void {
    const ofLane = [...this.#running].filter(({ job }) => !lane || job.owner === lane)
    if (ofLane.some(({ state }) => state === 'stopping')) return
    const overdue = ofLane.find(({ state }) => state === 'overdue')
    if (!overdue) return
    overdue.state = 'stopping'
    overdue.thread.stop()
  }

  /** Starts waiting jobs of the queue, lanes in turn, as long as a thread is ready and `mayBegin` allows a lane. */
  #begin(queue: Queue, mayBegin: (lane: Lane) => boolean): void {
    for (let job = this.#nextIn(queue, mayBegin); job; job = this.#nextIn(queue, mayBegin)) {
      // Work on the same content may have run into its time limit while this job waited.
      const refusal = this.#refused.reasonFor(job.content)
      const thread = refusal ? undefined : this.#takeReady()
      if (!refusal && !thread) return this.#startThreads(this.#queues[queue].size)
      this.#queues[queue].delete(job)
      if (thread) this.#run(job, thread, queue === 'slow' ? 'slow' : 'quick')
      else this.#settle(job, () => job.reject(refusal as Error))
    }
  }

  #nextIn(queue: Queue, mayBegin: (lane: Lane) => boolean): Job | undefined {
    let next: Job | undefined
    for (const job of this.#queues[queue]) {
      if ((!next || job.owner.lastTurn < next.owner.lastTurn) && mayBegin(job.owner)) next = job
    }
    return next
  }

  #run(job: Job, thread: Thread, state: 'quick' | 'slow'): void {
    job.stopWaiting?.()
    const { owner, content } = job
    owner.lastTurn = ++this.#starts
    const one: Running = { job, thread, state, stopCheck: undefined }
    this.#running.add(one)
    this.#checkLater(one, this.#options.slowAfterMs)
    thread
      .ask(job.message)
      .then(
        (answer) => this.#settle(job, () => job.resolve(answer)),
        (error: Error) => {
          if (error instanceof Stopped && !this.#isClosed) return this.#enqueue(job, 'slow')
          if (error instanceof ThreadTimeout) this.#refused.add(content)
          return this.#settle(job, () => job.reject(error))
        },
      )
      .finally(() => {
        one.stopCheck?.()
        this.#running.delete(one)
        if (this.#isClosed) return
        this.#free.push(thread)
        // Starts a new worker now, so that the next job does not have to wait for that.
        if (!thread.isReady) this.#makeReady(thread)
        this.#startNext()
      })
  }

  #checkLater(one: Running, inMs: number): void {
    one.stopCheck = this.#options.clock.setTimeout(() => {
      const leftMs = this.#options.slowAfterMs - one.thread.workedMs()
      if (leftMs > 0) this.#checkLater(one, Math.max(leftMs, minCheckMs))
      else this.#onSlow(one)
    }, inMs)
  }

  #onSlow(one: Running): void {
    if (one.state === 'slow') return one.thread.lowerPriority()
    this.#becomeSlow(one)
    this.#startNext()
  }

  /** Takes a thread that is ready. Also starts spare threads, so that the next work does not wait for one. */
  #takeReady(): Thread | undefined {
    const index = this.#free.findLastIndex(({ isReady }) => isReady)
    if (index < 0) return undefined
    const [thread] = this.#free.splice(index, 1)
    this.#startThreads(spareThreads, this.#running.size + 1)
    return thread
  }

  /** Starts threads until `count` of them are free or starting, or the pool is full. */
  #startThreads(count: number, busy = this.#running.size): void {
    const { quickThreads, slowThreads } = this.#options
    let missing = count - this.#free.filter(({ isStarted }) => isStarted).length
    for (const thread of this.#free) if (!thread.isStarted && missing-- > 0) this.#makeReady(thread)
    for (; missing > 0 && busy + this.#free.length < quickThreads + slowThreads; missing--) {
      const thread = new Thread(this.#start, this.#options.clock)
      this.#free.push(thread)
      this.#makeReady(thread)
    }
  }

  #makeReady(thread: Thread): void {
    thread.start().then(
      () => {
        if (!this.#isClosed) this.#startNext()
      },
      (error: Error) => this.#failWithoutThreads(error),
    )
  }

  /** Without a thread, nothing would ever settle the waiting jobs. */
  #failWithoutThreads(error: Error): void {
    if (this.#isClosed || this.#running.size > 0 || this.#free.some(({ isStarted }) => isStarted)) return
    this.#failWaiting(error)
  }

  #failWaiting(error: Error): void {
    for (const queue of Object.values(this.#queues)) {
      for (const job of queue) this.#settle(job, () => job.reject(error))
      queue.clear()
    }
  }
}

const closed = () => new Error('The threads are closed.')
