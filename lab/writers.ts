/**
 * A process with many clients that write: sessions in editors, and backends that set live states and add comments. The
 * parent sends a job, and `stop`. Each write has an id. When it is acknowledged, its line is in the log before the client goes on.
 */
import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { ApiError, type Client, createClient, type ErrorStatus } from '@plenum/client'
import { createRandom } from '../packages/server/test/support/random/random.ts'
import { organizationId, RawEditor } from './raw-editor.ts'

export interface WriterJob {
  /** The address of the load balancer. */
  url: string
  token: string
  apiKey: string
  authToken: string
  documentIds: string[]
  sessionsPerDocument: number
  /** Writes of a session that wait for their acknowledgement. */
  maxInFlight: number
  /** Characters that each word of an editor has besides its id. */
  paddingLength: number
  /** Backends per kind of write. */
  backends: number
  /** The file to which acknowledged writes are appended. */
  log: string
  seed: number
  /** The control: counts a write as acknowledged when it is sent. */
  countsSent: boolean
}

export interface WriterReport {
  acknowledged: number
  /** How many sessions ended with each close code, in silence, or were refused, except at `stop`. */
  endings: Record<string, number>
  /** Answers that were errors, after all retries. */
  failures: { status: ErrorStatus; message: string }[]
}

/** Comments of one thread, and keys of one live state. A thread has at most 1,000 comments. */
const maxPerPlace = 500

export type WriterKind = 'editor' | 'liveState' | 'comment'

export type WriterMessage = { kind: 'progress'; acknowledged: number } | ({ kind: 'stopped' } & WriterReport)

/** A session that gets no acknowledgement for this long connects again, as if its network was lost. */
const silenceMs = 3_000
/** How often the parent learns how much is acknowledged. */
const progressMs = 20

// The parent process may be interrupted. Then this process exits too.
process.once('disconnect', () => process.exit())
process.on('message', (message: WriterJob | 'stop') => {
  if (message === 'stop') void current?.stop()
  else current = new Writers(message)
})

let current: Writers | undefined

class Writers {
  readonly #job: WriterJob
  readonly #client: Client
  readonly #log: number
  readonly #random
  readonly #report: WriterReport = { acknowledged: 0, endings: {}, failures: [] }
  readonly #running: Promise<void>
  readonly #progress: NodeJS.Timeout
  #isRunning = true
  #lastId = 0

  constructor(job: WriterJob) {
    this.#job = job
    this.#log = openSync(job.log, 'a')
    this.#random = createRandom(job.seed)
    const { url, apiKey, authToken, backends } = job
    // Its calls are repeated with the same idempotency key.
    this.#client = createClient({ url, apiKey, authToken, retries: 10, timeoutMs: silenceMs })
    this.#progress = setInterval(() => {
      tell({ kind: 'progress', acknowledged: this.#report.acknowledged })
    }, progressMs)
    const [firstDocument = ''] = job.documentIds
    this.#running = Promise.all([
      ...job.documentIds.flatMap((documentId) =>
        Array.from({ length: job.sessionsPerDocument }, () => this.#edit(documentId)),
      ),
      ...Array.from({ length: backends }, (_, index) => this.#setLiveStates(firstDocument, `state-${index}`)),
      ...Array.from({ length: backends }, (_, index) => this.#comment(firstDocument, `thread-${index}`)),
    ]).then(() => {})
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    await this.#running
    clearInterval(this.#progress)
    tell({ kind: 'stopped', ...this.#report })
  }

  #newId = () => (++this.#lastId).toString(36)

  #acknowledge(kind: WriterKind, documentId: string, ids: readonly string[]): void {
    if (ids.length === 0) return
    writeSync(this.#log, ids.map((id) => `${kind} ${documentId} ${id}\n`).join(''))
    this.#report.acknowledged += ids.length
  }

  /** Writes in an editor. When its session ends, it goes on with a new one. */
  async #edit(documentId: string): Promise<void> {
    const { url, token, maxInFlight, paddingLength, countsSent } = this.#job
    const padding = '.'.repeat(paddingLength)
    while (this.#isRunning) {
      const editor: RawEditor = new RawEditor({ url, token, documentId }, (ids) => {
        if (!countsSent) this.#acknowledge('editor', documentId, ids)
        fill()
      })
      const fill = () => {
        while (this.#isRunning && !editor.isEnded && editor.inFlight < maxInFlight) {
          const id = this.#newId()
          editor.write(id, padding)
          if (countsSent) this.#acknowledge('editor', documentId, [id])
        }
      }
      let isSilent = false
      const watch = setInterval(() => {
        const silentMs = performance.now() - editor.progressAt
        isSilent = silentMs > silenceMs
        if (isSilent || (!this.#isRunning && editor.inFlight === 0)) editor.terminate()
      }, 50)
      const isOpen = await editor.opened
      fill()
      const code = await editor.ended
      clearInterval(watch)
      if (!this.#isRunning) return
      const ending = isSilent ? 'silent' : isOpen ? String(code) : 'refused'
      this.#report.endings[ending] = (this.#report.endings[ending] ?? 0) + 1
      await pause(20 + this.#random(100))
    }
  }

  /** Adds a key to a live state with each call. */
  #setLiveStates(documentId: string, name: string): Promise<void> {
    return this.#repeat('liveState', documentId, (id, idempotencyKey, count) => {
      const liveStateDataId = `${name}-${Math.floor(count / maxPerPlace)}`
      const data = { [id]: 1 }
      return this.#client.liveState.broadcast(
        { organizationId, documentId, liveStateDataId, data, merge: true },
        { idempotencyKey },
      )
    })
  }

  #comment(documentId: string, name: string): Promise<void> {
    const from = { userId: 'writer' }
    const place = { organizationId, documentId, createOrganization: true, createDocument: true }
    return this.#repeat('comment', documentId, (id, idempotencyKey, count) => {
      const annotationId = `${name}-${Math.floor(count / maxPerPlace)}`
      const commentData = [{ commentText: id, from }]
      const commentAnnotations = [{ annotationId, commentData }]
      return count % maxPerPlace === 0
        ? this.#client.commentAnnotations.add({ ...place, commentAnnotations }, { idempotencyKey })
        : this.#client.comments.add({ ...place, annotationId, commentData }, { idempotencyKey })
    })
  }

  /** Makes calls one after the other. A call that fails is repeated with the same id. */
  async #repeat(
    kind: WriterKind,
    documentId: string,
    call: (id: string, idempotencyKey: string, count: number) => Promise<unknown>,
  ): Promise<void> {
    for (let count = 0; this.#isRunning; count++) {
      const id = this.#newId()
      if (this.#job.countsSent) this.#acknowledge(kind, documentId, [id])
      while (this.#isRunning) {
        try {
          await call(id, `${documentId}-${id}`, count)
          if (!this.#job.countsSent) this.#acknowledge(kind, documentId, [id])
          break
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          this.#report.failures.push({ status: error.status, message: `${kind}: ${error.message}` })
          await pause(100)
        }
      }
    }
  }
}

function tell(message: WriterMessage): void {
  process.send?.(message)
}
