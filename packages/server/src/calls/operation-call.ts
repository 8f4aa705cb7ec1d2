import type { ApiVersion, VersionUser } from '@plenum/protocol'
import { newId } from '../access/ids.ts'
import { createPages, type Pages } from './answers/page-tokens.ts'
import { type BusMessage, toUncertainMessage } from '../bus.ts'
import type { Log } from '../platform/log/log.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { Db } from '../store/engine/db.ts'
import * as jobs from '../store/jobs.ts'
import { accessScope } from './access-scope.ts'
import type { CallRequest } from './call-request.ts'
import type { Call } from './call.ts'
import type { CallableOperation } from './callable-operations.ts'
import { callerScope } from './caller-scope.ts'
import type { Services } from './services.ts'

/** The `Call` that a handler gets. A class, because each request creates one and V8 is fast with objects of one shape. */
export class OperationCall implements Call {
  readonly input: never
  readonly caller: never
  readonly user: VersionUser | undefined
  readonly version: ApiVersion
  readonly db: Db
  readonly services: Services
  readonly now: number
  readonly alreadyRemovedIds: readonly string[] | undefined
  readonly log: Log
  readonly abandoned: AbortSignal | undefined
  readonly #callable: CallableOperation
  #afterCommit: (() => void)[] | undefined
  #signals: BusMessage[] | undefined
  #accessChange: BusMessage | undefined

  constructor(
    services: Services,
    request: CallRequest,
    db: Db,
    now: number,
    alreadyRemovedIds?: readonly string[],
  ) {
    this.input = request.input as never
    this.caller = request.caller as never
    this.user = request.client?.user
    this.version = request.version
    this.db = db
    this.services = services
    this.now = now
    this.alreadyRemovedIds = alreadyRemovedIds
    this.log = request.log
    this.abandoned = request.abandoned
    this.#callable = request.callable
  }

  get pages(): Pages {
    const { name, declaration } = this.#callable
    return createPages(this.services.secrets, callerScope(declaration.access, this.caller), name)
  }

  get afterCommit(): Call['afterCommit'] {
    return (work) => void (this.#afterCommit ??= []).push(work)
  }

  get signal(): Call['signal'] {
    return (message) => void (this.#signals ??= []).push({ ...message, apiKey: this.#apiKey })
  }

  /** The API key that the call concerns: the caller, or for the operations of a workspace the one in the input. */
  get #apiKey(): string {
    return (this.caller as Partial<ApiKey>).apiKey ?? (this.input as { apiKey: string }).apiKey
  }

  get enqueue(): Call['enqueue'] {
    return async (kind, payload) => {
      const apiKey = this.#apiKey
      await jobs.add(this.db, { jobId: newId('job'), apiKey, kind, payload, now: this.now })
      this.afterCommit(() => this.services.wakeJobs(apiKey))
    }
  }

  /** Call it when the transaction is durable. The answer must wait for the returned promise, if there is one. */
  onCommitted(): Promise<unknown> | undefined {
    for (const work of this.#afterCommit ?? []) work()
    const { signals, whenRevokedCommitsEnded } = this.services
    const { messages } = this
    signals.publish(messages)
    const changesAccess = messages.some(({ kind }) => kind === 'access' || kind === 'credentials')
    return changesAccess ? whenRevokedCommitsEnded(this.#apiKey) : undefined
  }

  /** Call it when it is unknown whether the transaction was committed. Open sessions then read the documents again. */
  onUncertain(): void {
    const { bus, credentials, wakeJobs } = this.services
    const { messages } = this
    for (const { apiKey } of messages) credentials.drop(apiKey)
    for (const message of messages) bus.publish(toUncertainMessage(message))
    const { apiKey } = this.caller as Partial<ApiKey>
    if (apiKey !== undefined) wakeJobs(apiKey)
  }

  /**
   * What open sessions are told after the commit. The transaction stores it for the sessions of other servers. Each read
   * returns the same objects, because `Signals` recognizes a message by its object.
   */
  get messages(): readonly BusMessage[] {
    const signals = this.#signals ?? []
    const { changesAccess } = this.#callable.declaration
    if (!changesAccess) return signals
    this.#accessChange ??= {
      kind: 'access',
      apiKey: this.#apiKey,
      ...accessScope(changesAccess, this.input),
    }
    return [...signals, this.#accessChange]
  }
}
