import { hash } from 'node:crypto'
import type { ApiError, Input, Operation, Operations, Output, Version, VersionUser } from '@plenum/protocol'
import type { Credentials } from '../access/credentials.ts'
import type { Pages } from '../access/pages.ts'
import type { Secrets } from '../access/tokens/secrets.ts'
import type { UserTokens } from '../access/tokens/user-tokens.ts'
import type { Config, Limits } from '../config.ts'
import type { StoredDocuments } from '../crdt/stored-documents.ts'
import type { Emitted } from '../platform/bus.ts'
import type { Log } from '../platform/log/log.ts'
import type { LongReads } from '../platform/turns/long-reads.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { Database, Db } from '../store/engine/db.ts'
import type { JobKind, JobPayload } from '../store/jobs.ts'
import type { SnapshotWriter } from '../store/editors/snapshot-writer.ts'

export type { LongRead } from '../platform/turns/long-reads.ts'

/** Whose credentials the request carried. */
export interface Callers {
  public: { address: string }
  workspace: { workspaceId: string }
  apiKey: ApiKey
  body: ApiKey
}

/** What the server lends to every handler. */
export interface Services {
  readonly credentials: Credentials
  readonly secrets: Secrets
  readonly userTokens: UserTokens
  readonly isDisposable: (email: string) => boolean
  readonly limits: Limits
  readonly workspaceCreation: Config['workspaceCreation']
  readonly defaultDocumentAccess: Config['defaultDocumentAccess']
  /** Work on the documents of editors, off the event loop when it may take long. */
  readonly storedDocuments: StoredDocuments
  /** Divides reads of much into slices. */
  readonly longReads: LongReads
  readonly snapshots: Pick<SnapshotWriter, 'write'>
  /** Waits for a named lock until the transaction ends, for checks that no row can hold. */
  readonly lock: Database['lock']
  /** Carries on the deletions that no server works on. */
  readonly resumeDeletions: () => void
  /** A short transaction of its own, for `prepare`. What it writes must not be seen before the last one, unless items of a batch may be seen one by one. */
  readonly writeStep: Database['write']
}

/** A large value of the input, as it was sent. Only the depth of its JSON has been checked. */
export class UnparsedJson {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** A value of the same kind. */
  get sample(): '' | Record<string, never> | never[] {
    const [first] = this.bytes
    if (first === 0x22) return ''
    return first === 0x7b ? {} : []
  }

  /** Stands for the value where requests are compared. */
  toJSON(): string {
    return hash('sha256', this.bytes, 'base64')
  }
}

/** All that an operation may touch. */
export interface Call<O extends Operation = Operation> extends Services {
  readonly input: Input<O>
  readonly caller: Callers[O['access']]
  /** The user whose live client sent the request. Undefined: a backend calls. */
  readonly user: VersionUser | undefined
  readonly version: Version
  /** A transaction when the operation writes: it commits when the handler returns and not when it throws. */
  readonly db: Db
  readonly pages: Pages
  /** Adds a background job, which starts after the commit. */
  readonly enqueue: <K extends JobKind>(kind: K, payload: JobPayload<K>) => Promise<void>
  /** Of what a large deletion takes away, the ids of what was removed before the transaction. Undefined: it is not large. */
  readonly removedBefore: readonly string[] | undefined
  /** Runs once the transaction is durable. */
  readonly afterCommit: (work: () => void) => void
  /** Tells open sessions of the API key, once the transaction is durable and before the caller is answered. */
  readonly emit: (message: Emitted) => void
  readonly now: number
  readonly log: Log
}

export type Handler<O extends Operation> = SimpleHandler<O> | PreparedWrite<O>

export type SimpleHandler<O extends Operation> = (call: Call<O>) => Promise<Answered<O>>

type Answered<O extends Operation> = Output<O> | Reply<Output<O>>

/**
 * A write with work that may take long. The work is done before the transaction, so that no other write waits for it. The
 * transaction then checks that the work still fits, and throws `Stale` if it does not: both steps run again.
 */
export interface PreparedWrite<O extends Operation> {
  /** Names what is written. Calls with the same name run one after the other, so that none makes another one stale. */
  subject?(call: Call<O>): string
  /** `call.db` shows committed data and is only read; `call.writeStep` writes. The result is given to `write`, which declares its type. */
  prepare(call: Call<O>): Promise<unknown>
  write(call: Call<O>, prepared: never): Promise<Answered<O>>
}

/** What was prepared does not fit any more. */
export class Stale extends Error {
  override name = 'Stale'
}

/** The handlers of a family, one for each of its declarations. */
export type Handlers<F extends Record<string, Operation>> = { [Verb in keyof F]: Handler<F[Verb]> }

export type AllHandlers = { [F in keyof Operations]: Handlers<Operations[F]> }

interface More {
  message?: string
  extra?: Record<string, unknown>
  onSent?: () => void
}

/** An answer that says more than its data. */
export class Reply<T> {
  readonly data: T
  readonly message: string | undefined
  /** Keys beside `data`. */
  readonly extra: Readonly<Record<string, unknown>> | undefined
  /** What was done stays done, but the caller is told of a failure (spec 0.4 patterns B to D). */
  readonly error: ApiError | undefined
  /** Called once when the answer has been sent, or cannot be. */
  readonly onSent: (() => void) | undefined

  constructor(data: T, more: More & { error?: ApiError } = {}) {
    this.data = data
    this.message = more.message
    this.extra = more.extra
    this.error = more.error
    this.onSent = more.onSent
  }
}

/** A success with another message, or with keys beside its data. */
export const reply = <T>(data: T, more: More): Reply<T> => new Reply(data, more)

/** A failure in part: commits what was done and answers the error. */
export const partial = (error: ApiError): Reply<never> => new Reply(undefined as never, { error })
