import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import { RestingContents } from './resting-contents.ts'
import { type Message, Stopped, Thread, TookTooLong } from './thread.ts'

/** No thread had time for the work within `waitMs`. */
export class ThreadsBusy extends Error {
  override name = 'ThreadsBusy'
}

/** The lane has as much work in progress as it may have. */
export class LaneFull extends Error {
  override name = 'LaneFull'
}

export interface Work {
  /** Whose work it is. Lanes take turns, and no lane gets all threads. */
  lane: string
  /** Names the bytes that the work reads. Content that ran into its time limit is refused for a while. */
  content: string
  /** Memory that the work holds until it is done. */
  bytes: number
  /** Nobody waits for it: it starts only when nothing else waits. */
  isBackground?: boolean
  /** How long it may wait for a thread; default: as long as it takes. */
  waitMs?: number
  /** Made when a thread is ready for it, and again if the work has to start over. */
  message: () => Message
}

export interface PoolOptions {
  /** Threads for work that has just begun, and how many of them one lane may have. */
  quickThreads?: number
  quickPerLane?: number
  /** Threads for work that takes longer than `slowAfterMs` of a processor. A lane has one of them at a time. */
  slowThreads?: number
  slowAfterMs?: number
  /** What one lane may have in progress. */
  laneJobs?: number
  laneBytes?: number
  /** For how long content that ran into its time limit is refused. */
  restMs?: number
}

/** More threads than processors would only keep the event loop waiting for one. Two lanes always have one each. */
const quickThreads = Math.max(2, Math.min(3, availableParallelism()))

const defaults: Required<PoolOptions> = {
  quickThreads,
  quickPerLane: quickThreads - 1,
  slowThreads: 2,
  slowAfterMs: 100,
  laneJobs: 200,
  laneBytes: 128 * 1024 * 1024,
  restMs: 60_000,
}

interface Lane {
  name: string
  /** Jobs that wait or run, and their bytes. */
  jobs: number
  bytes: number
  /** When its last job began; 0: none has. The lane with the lowest number is next. */
  turn: number
}

type Queue = 'quick' | 'slow' | 'background'

interface Job extends Work {
  owner: Lane
  resolve: (answer: unknown) => void
  reject: (error: Error) => void
  waiting: NodeJS.Timeout | undefined
}

interface Running {
  job: Job
  thread: Thread
  /** `overdue`: takes long, but is still on a quick thread. `stopping`: starts over as slow work. */
  state: 'quick' | 'overdue' | 'slow' | 'stopping'
  /** Looks whether it takes long. */
  look: NodeJS.Timeout | undefined
}

/** Two lanes may begin something at the same moment. */
const threadsAhead = 2

/** A thread that waits for a processor is not looked at more often. */
const minLookMs = 20

/** Lanes whose last turn is remembered. */
const maxLastTurns = 1_000

/**
 * Worker threads that lanes share. All work begins on a quick thread. Work that takes longer goes on as slow work if a slow
 * thread is free for its lane. Otherwise it keeps its thread until other work needs it: then it is stopped, and starts over
 * when a slow thread is free. So other lanes wait for about `slowAfterMs` at most, however long the work of one lane takes.
 */
export class ThreadPool {
  readonly #options: Required<PoolOptions>
  readonly #start: () => Worker | Promise<Worker>
  readonly #lanes = new Map<string, Lane>()
  /** Of lanes without jobs. */
  readonly #lastTurns = new Map<string, number>()
  readonly #queues: Record<Queue, Set<Job>> = { quick: new Set(), slow: new Set(), background: new Set() }
  /** The work that began first comes first. */
  readonly #running = new Set<Running>()
  readonly #free: Thread[] = []
  readonly #resting: RestingContents
  #turns = 0
  #isClosed = false

  constructor(start: () => Worker | Promise<Worker>, options: PoolOptions = {}) {
    this.#start = start
    this.#options = { ...defaults, ...options }
    this.#resting = new RestingContents(this.#options.restMs)
  }

  run(work: Work): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closed())
      const rest = this.#resting.of(work.content)
      if (rest) return reject(rest)
      const owner = this.#laneOf(work.lane)
      const { laneJobs, laneBytes } = this.#options
      // The first job is taken however large it is.
      if (owner.jobs > 0 && (owner.jobs >= laneJobs || owner.bytes + work.bytes > laneBytes)) {
        return reject(new LaneFull('Too much work of this lane is in progress.'))
      }
      owner.jobs++
      owner.bytes += work.bytes
      const job: Job = { ...work, owner, resolve, reject, waiting: undefined }
      this.#enqueue(job, work.isBackground ? 'background' : 'quick')
      this.#startNext()
    })
  }

  #enqueue(job: Job, queue: Queue): void {
    this.#queues[queue].add(job)
    const { waitMs } = job
    if (waitMs === undefined) return
    job.waiting = setTimeout(() => {
      this.#queues[queue].delete(job)
      this.#settle(job, () => job.reject(new ThreadsBusy(`No thread had time within ${waitMs} ms.`)))
    }, waitMs)
  }

  /** What is in progress fails. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#failWaiting(closed())
    const threads = [...this.#free, ...Array.from(this.#running, ({ thread }) => thread)]
    await Promise.all(threads.map((thread) => thread.close()))
  }

  #laneOf(name: string): Lane {
    let lane = this.#lanes.get(name)
    if (!lane)
      this.#lanes.set(name, (lane = { name, jobs: 0, bytes: 0, turn: this.#lastTurns.get(name) ?? 0 }))
    return lane
  }

  #settle({ owner, bytes, waiting }: Job, settle: () => void): void {
    clearTimeout(waiting)
    owner.jobs--
    owner.bytes -= bytes
    if (owner.jobs === 0) this.#forget(owner)
    settle()
  }

  /** When its last turn was stays known: who sends one job after the other does not come before those who wait. */
  #forget({ name, turn }: Lane): void {
    this.#lanes.delete(name)
    this.#lastTurns.delete(name)
    this.#lastTurns.set(name, turn)
    const [oldest] = this.#lastTurns.keys()
    if (oldest !== undefined && this.#lastTurns.size > maxLastTurns) this.#lastTurns.delete(oldest)
  }

  #startNext(): void {
    const { quickThreads, quickPerLane } = this.#options
    this.#begin('slow', (lane) => this.#hasSlowThread(lane))
    for (const one of this.#running) if (one.state === 'overdue') this.#becomeSlow(one)
    this.#begin('quick', (lane) => this.#quickBusy() < quickThreads && this.#quickBusy(lane) < quickPerLane)
    for (const { owner } of this.#queues.quick) {
      this.#stopOverdue(this.#quickBusy(owner) < quickPerLane ? undefined : owner)
    }
    // One thread stays free for work that somebody waits for.
    this.#begin('background', () => this.#quickBusy() < quickThreads - 1 && !this.#hasBackground())
  }

  #count(isCounted: (one: Running) => boolean): number {
    let count = 0
    for (const one of this.#running) if (isCounted(one)) count++
    return count
  }

  /** How many quick threads are busy: all, or with work of a lane. */
  #quickBusy(lane?: Lane): number {
    return this.#count(({ state, job }) => state !== 'slow' && (!lane || job.owner === lane))
  }

  #hasSlowThread(lane: Lane): boolean {
    const isSlow = ({ state }: Running) => state === 'slow'
    if (this.#count((one) => isSlow(one) && one.job.owner === lane) > 0) return false
    return this.#count(isSlow) < this.#options.slowThreads
  }

  #hasBackground(): boolean {
    return this.#count(({ job }) => job.isBackground === true) > 0
  }

  /** Unless a job that was stopped has the place: it only waits for its thread to start. */
  #becomeSlow(one: Running): void {
    const isFree =
      this.#hasSlowThread(one.job.owner) && !this.#nextIn('slow', (lane) => this.#hasSlowThread(lane))
    one.state = isFree ? 'slow' : 'overdue'
    if (one.state === 'slow') one.thread.lowerPriority()
  }

  /** Frees a thread, of a lane or of any: that of the overdue work that began first, unless one is being freed. */
  #stopOverdue(lane?: Lane): void {
    const ofLane = [...this.#running].filter(({ job }) => !lane || job.owner === lane)
    if (ofLane.some(({ state }) => state === 'stopping')) return
    const overdue = ofLane.find(({ state }) => state === 'overdue')
    if (!overdue) return
    overdue.state = 'stopping'
    overdue.thread.stop()
  }

  /** Begins what waits in a queue, lane by lane in turn, as long as lanes may begin something and threads are ready. */
  #begin(queue: Queue, mayBegin: (lane: Lane) => boolean): void {
    for (let job = this.#nextIn(queue, mayBegin); job; job = this.#nextIn(queue, mayBegin)) {
      // The same content may have failed while this job waited.
      const rest = this.#resting.of(job.content)
      const thread = rest ? undefined : this.#takeReady()
      if (!rest && !thread) return this.#startThreads(this.#queues[queue].size)
      this.#queues[queue].delete(job)
      if (thread) this.#run(job, thread, queue === 'slow' ? 'slow' : 'quick')
      else this.#settle(job, () => job.reject(rest as Error))
    }
  }

  #nextIn(queue: Queue, mayBegin: (lane: Lane) => boolean): Job | undefined {
    let next: Job | undefined
    for (const job of this.#queues[queue]) {
      if ((!next || job.owner.turn < next.owner.turn) && mayBegin(job.owner)) next = job
    }
    return next
  }

  #run(job: Job, thread: Thread, state: 'quick' | 'slow'): void {
    clearTimeout(job.waiting)
    const { owner, content } = job
    owner.turn = ++this.#turns
    const one: Running = { job, thread, state, look: undefined }
    this.#running.add(one)
    this.#lookAgain(one, this.#options.slowAfterMs)
    thread
      .ask(job.message)
      .then(
        (answer) => this.#settle(job, () => job.resolve(answer)),
        (error: Error) => {
          if (error instanceof Stopped && !this.#isClosed) return this.#enqueue(job, 'slow')
          if (error instanceof TookTooLong) this.#resting.add(content)
          return this.#settle(job, () => job.reject(error))
        },
      )
      .finally(() => {
        clearTimeout(one.look)
        this.#running.delete(one)
        if (this.#isClosed) return
        this.#free.push(thread)
        // The next job does not wait for the start of another worker.
        if (!thread.isReady) this.#makeReady(thread)
        this.#startNext()
      })
  }

  #lookAgain(one: Running, inMs: number): void {
    one.look = setTimeout(() => {
      const leftMs = this.#options.slowAfterMs - one.thread.workedMs()
      if (leftMs > 0) this.#lookAgain(one, Math.max(leftMs, minLookMs))
      else this.#takesLong(one)
    }, inMs)
  }

  #takesLong(one: Running): void {
    if (one.state === 'slow') return one.thread.lowerPriority()
    this.#becomeSlow(one)
    this.#startNext()
  }

  /** A thread that can begin at once. Others are started ahead: the next work does not wait for that. */
  #takeReady(): Thread | undefined {
    const index = this.#free.findLastIndex(({ isReady }) => isReady)
    if (index < 0) return undefined
    const [thread] = this.#free.splice(index, 1)
    this.#startThreads(threadsAhead, this.#running.size + 1)
    return thread
  }

  /** Starts threads until `count` of them are free or starting, or the pool has as many as it may have. */
  #startThreads(count: number, busy = this.#running.size): void {
    const { quickThreads, slowThreads } = this.#options
    let missing = count - this.#free.filter(({ isStarted }) => isStarted).length
    for (const thread of this.#free) if (!thread.isStarted && missing-- > 0) this.#makeReady(thread)
    for (; missing > 0 && busy + this.#free.length < quickThreads + slowThreads; missing--) {
      const thread = new Thread(this.#start)
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

  /** Nothing else would answer what waits. */
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
