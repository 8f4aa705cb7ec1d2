import { type Access, ApiError, type Operation, type Version, type VersionUser } from '@plenum/protocol'
import type { Deletions } from '../access/deletions.ts'
import { newId } from '../access/ids.ts'
import { mentionIn } from '../access/mentions.ts'
import { createPages, type Pages } from '../access/pages.ts'
import {
  type Call,
  type Callers,
  type PreparedWrite,
  Reply,
  type Services,
  type SimpleHandler,
  Stale,
} from './call.ts'
import { type Bus, type BusMessage, uncertain } from '../platform/bus.ts'
import type { Log } from '../platform/log/log.ts'
import type { ApiKey } from '../store/api-keys.ts'
import { removals } from '../operations/removals.ts'
import { mayBeCommitted, whenCertain } from '../store/engine/certainty.ts'
import type { Database, Db } from '../store/engine/db.ts'
import type { Scope } from '../store/deletions/deletions.ts'
import * as jobs from '../store/jobs.ts'
import { writeJson } from './written-json.ts'
import { accessScope } from './access-scope.ts'
import { scopeOf } from '../http/authenticate.ts'
import { type Answer, createIdempotency, type KeyedRequest } from './idempotency.ts'
import { SubjectQueues } from './subject-queues.ts'

export interface Request {
  caller: Callers[Access]
  version: Version
  input: unknown
  /** The size of the body. */
  bytes: number
  idempotencyKey: string | undefined
  log: Log
  /** Undefined: a backend calls. */
  client?: LiveClient
}

/** A client of a live connection that sent the request. */
export interface LiveClient {
  /** Undefined: the connection is that of a backend. */
  user: VersionUser | undefined
  /** A transaction that is committed only if the client may still write. */
  write: Database['write']
}

export interface Executor {
  database: Database
  services: Services
  bus: Bus
  now: () => number
  /** A job was committed. */
  wakeJobs: () => void
  /** Resolves when no client's write under that key is being committed; undefined if none is. */
  commitsUnderWay: (apiKey: string) => Promise<unknown> | undefined
  deletions: Deletions
}

export type AnyHandler = SimpleHandler<Operation> | PreparedWrite<Operation>

/** How often a write is prepared that other servers keep making stale. */
const maxPreparations = 5

/** Runs one operation: reads at once, writes in a transaction whose answer waits until it is durable. */
export function createExecute(executor: Executor) {
  const { database, services, now, deletions } = executor
  const idempotency = createIdempotency(database, services.secrets)
  const subjects = new SubjectQueues()

  return async (
    name: string,
    operation: Operation,
    handler: AnyHandler,
    request: Request,
  ): Promise<Answer> => {
    const startedAt = now()
    const callOn = (db: Db, removedBefore?: readonly string[]) =>
      new OperationCall(executor, name, operation, request, db, startedAt, removedBefore)
    const { caller, input, client } = request
    const transaction: Database['write'] = (work, lane) => (client ?? database).write(work, lane)
    const key = 'apiKey' in caller ? caller : undefined
    if (key && deletions.mayMeet(key) && !operation.tellsProgress) {
      await deletions.settled(key.apiKey, mentionIn(input))
    }
    if (operation.effect === 'read') {
      return answer(operation, await (handler as SimpleHandler<Operation>)(callOn(database.read)))
    }

    const scope = scopeOf(operation.access, request.caller)
    const keyed = keyedRequest(name, scope, request, startedAt)
    const commit = async (
      run: (call: Call) => Promise<unknown>,
      removedBefore?: readonly string[],
    ): Promise<Answer> => {
      let committing: OperationCall | undefined
      const effect = async (db: Db) => {
        committing = callOn(db, removedBefore)
        return answer(operation, await run(committing))
      }
      const attempt = (db: Db) => {
        // Of an attempt that collided nothing remains, and the next one may find the answer of another server.
        committing = undefined
        return keyed ? idempotency.once(db, keyed, effect) : effect(db)
      }
      const done = await transaction(attempt, scope).catch((error: unknown) => {
        if (mayBeCommitted(error)) void whenCertain(database).then(() => committing?.uncertain())
        throw error
      })
      const underWay = committing?.committed()
      if (underWay) await underWay
      return done
    }
    const prepareAndCommit = async (steps: PreparedWrite<Operation>): Promise<Answer> => {
      const kept = keyed && (await idempotency.find(database.read, keyed))
      if (kept) return kept
      for (let preparation = 1; ; preparation++) {
        const prepared = await steps.prepare(callOn(database.read))
        try {
          return await commit((call) => steps.write(call, prepared as never))
        } catch (error) {
          if (!(error instanceof Stale)) throw error
          if (preparation === maxPreparations) throw changedMeanwhile()
        }
      }
    }
    /** What is too much for one transaction is removed before it. */
    const removeAndCommit = async (apiKey: string, removal: Scope, run: SimpleHandler<Operation>) => {
      const isWanted = async (db: Db) => !keyed || (await idempotency.find(db, keyed)) === undefined
      const begun = await deletions.begin(apiKey, removal, isWanted)
      if (!begun) return commit(run)
      const { deletion, removedIds } = begun
      let isFinished = false
      try {
        const done = await commit(async (call) => {
          const result = await run(call)
          await deletions.finish(call.db, deletion)
          return result
        }, removedIds)
        isFinished = done.replayed !== true
        return done
      } finally {
        deletions.ended(deletion, isFinished)
      }
    }
    const write = () => {
      if (typeof handler === 'function') {
        const removal = key && removals[name]?.(input as never, startedAt)
        return removal ? removeAndCommit(key.apiKey, removal, handler) : commit(handler)
      }
      if (!handler.subject) return prepareAndCommit(handler)
      const subject = handler.subject(callOn(database.read))
      return subjects.take(scope, subject, request.bytes, () => prepareAndCommit(handler))
    }
    return keyed ? idempotency.alone(keyed, write) : write()
  }
}

function keyedRequest(
  name: string,
  scope: string,
  { version, input, idempotencyKey }: Request,
  now: number,
): KeyedRequest | undefined {
  if (idempotencyKey === undefined) return undefined
  return {
    id: { scope, operation: `${version} ${name}`, key: idempotencyKey },
    body: JSON.stringify(input),
    now,
  }
}

const changedMeanwhile = () =>
  new ApiError('ABORTED', 'Other calls changed the same data at the same time. Try again.', {
    retryAfterSeconds: 1,
  })

/** A class, because one is made for every request and objects of one shape are fast. */
class OperationCall implements Call {
  readonly input: never
  readonly caller: never
  readonly user: VersionUser | undefined
  readonly version: Version
  readonly db: Db
  readonly now: number
  readonly removedBefore: readonly string[] | undefined
  readonly log: Log
  readonly credentials: Services['credentials']
  readonly secrets: Services['secrets']
  readonly userTokens: Services['userTokens']
  readonly isDisposable: Services['isDisposable']
  readonly limits: Services['limits']
  readonly workspaceCreation: Services['workspaceCreation']
  readonly defaultDocumentAccess: Services['defaultDocumentAccess']
  readonly storedDocuments: Services['storedDocuments']
  readonly lock: Services['lock']
  readonly longReads: Services['longReads']
  readonly #executor: Executor
  readonly #name: string
  readonly #operation: Operation
  #afterCommit: (() => void)[] | undefined
  #emitted: BusMessage[] | undefined

  constructor(
    executor: Executor,
    name: string,
    operation: Operation,
    request: Request,
    db: Db,
    now: number,
    removedBefore?: readonly string[],
  ) {
    this.removedBefore = removedBefore
    this.input = request.input as never
    this.caller = request.caller as never
    this.user = request.client?.user
    this.version = request.version
    this.db = db
    this.now = now
    this.log = request.log
    const { services } = executor
    this.credentials = services.credentials
    this.secrets = services.secrets
    this.userTokens = services.userTokens
    this.isDisposable = services.isDisposable
    this.limits = services.limits
    this.workspaceCreation = services.workspaceCreation
    this.defaultDocumentAccess = services.defaultDocumentAccess
    this.storedDocuments = services.storedDocuments
    this.lock = services.lock
    this.longReads = services.longReads
    this.#executor = executor
    this.#name = name
    this.#operation = operation
  }

  get snapshots(): Services['snapshots'] {
    return this.#executor.services.snapshots
  }

  get resumeDeletions(): Services['resumeDeletions'] {
    return this.#executor.services.resumeDeletions
  }

  get writeStep(): Services['writeStep'] {
    return this.#executor.services.writeStep
  }

  get pages(): Pages {
    return createPages(this.secrets.pageTokenKey, scopeOf(this.#operation.access, this.caller), this.#name)
  }

  get afterCommit(): Call['afterCommit'] {
    return (work) => void (this.#afterCommit ??= []).push(work)
  }

  get emit(): Call['emit'] {
    return (message) => void (this.#emitted ??= []).push({ ...message, apiKey: this.#apiKey })
  }

  /** Operations of a workspace name the key in their input. */
  get #apiKey(): string {
    return (this.caller as Partial<ApiKey>).apiKey ?? (this.input as { apiKey: string }).apiKey
  }

  get enqueue(): Call['enqueue'] {
    return async (kind, payload) => {
      await jobs.add(this.db, { jobId: newId('job'), apiKey: this.#apiKey, kind, payload, now: this.now })
      this.afterCommit(this.#executor.wakeJobs)
    }
  }

  /** What must be awaited before the answer leaves, if anything. */
  committed(): Promise<unknown> | undefined {
    for (const work of this.#afterCommit ?? []) work()
    const { bus, commitsUnderWay } = this.#executor
    const messages = this.#messages
    for (const message of messages) bus.publish(message)
    const changesAccess = messages.some(({ kind }) => kind === 'access' || kind === 'credentials')
    return changesAccess ? commitsUnderWay(this.#apiKey) : undefined
  }

  /** It is unknown whether the transaction was committed. */
  uncertain(): void {
    const { bus, services, wakeJobs } = this.#executor
    const messages = this.#messages
    for (const { apiKey } of messages) services.credentials.forget(apiKey)
    for (const message of messages) bus.publish(uncertain(message))
    wakeJobs()
  }

  get #messages(): readonly BusMessage[] {
    const emitted = this.#emitted ?? []
    const { changesAccess } = this.#operation
    if (!changesAccess) return emitted
    return [...emitted, { kind: 'access', apiKey: this.#apiKey, ...accessScope(changesAccess, this.input) }]
  }
}

function answer(operation: Operation, result: unknown): Answer {
  if (!(result instanceof Reply)) return success(operation.message, result)
  if (result.error instanceof ApiError) {
    const body = writeJson(result.error.toBody({ withCode: operation.errorCode === true }))
    return { httpStatus: result.error.httpStatus, body }
  }
  const { onSent } = result
  return {
    ...success(result.message ?? operation.message, result.data, result.extra),
    ...(onSent && { onSent }),
  }
}

const success = (message: string, data: unknown, extra?: Readonly<Record<string, unknown>>): Answer => ({
  httpStatus: 200,
  body: writeJson({ result: { status: 'success', message, data, ...extra } }),
})
