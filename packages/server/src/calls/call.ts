import type { Input, Operation, Operations, Output, Version, VersionUser } from '@plenum/protocol'
import type { Credentials } from '../access/credentials/credentials.ts'
import type { Pages } from '../access/pages.ts'
import type { Secrets } from '../access/credentials/secrets.ts'
import type { UserTokens } from '../access/tokens/user-tokens.ts'
import type { Config, Limits } from '../config.ts'
import type { StoredDocuments } from '../crdt/stored-documents.ts'
import type { Signal } from '../bus.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log/log.ts'
import type { LongReads } from '../platform/turns/long-reads.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { Scope } from '../store/deletions.ts'
import type { SnapshotWriter } from '../store/editors/snapshot-writer.ts'
import type { Database, Db } from '../store/engine/db.ts'
import type { JobKind, JobPayload } from '../store/jobs.ts'
import type { Reply } from './reply.ts'

/** The owner of the request's credentials, by the operation's access level. */
export interface Callers {
  public: { address: string }
  workspace: { workspaceId: string }
  apiKey: ApiKey
  body: ApiKey
}

/** What a handler may use besides its transaction. */
export interface HandlerServices {
  readonly clock: Clock
  readonly credentials: Credentials
  readonly secrets: Secrets
  readonly userTokens: UserTokens
  readonly isDisposable: (email: string) => boolean
  readonly limits: Limits
  readonly workspaceCreation: Config['workspaceCreation']
  readonly defaultDocumentAccess: Config['defaultDocumentAccess']
  /** Builds the documents of editors, off the event loop when that may take long. */
  readonly storedDocuments: StoredDocuments
  /** Divides long reads into slices. */
  readonly longReads: LongReads
  readonly snapshots: Pick<SnapshotWriter, 'write'>
  /** Acquires a named lock until the transaction ends, for checks that no row can lock. */
  readonly lock: Database['lock']
  /** Resumes the deletions that no server works on. */
  readonly resumeDeletions: () => void
  /**
   * A short transaction of its own, for `prepare`. Its writes must stay invisible until the operation's last transaction,
   * unless the items of a batch may become visible one by one.
   */
  readonly writeStep: Database['write']
}

/** Everything that an operation may touch. */
export interface Call<O extends Operation = Operation> {
  readonly input: Input<O>
  readonly caller: Callers[O['access']]
  /** The user whose live client sent the request. Undefined: a backend sent it. */
  readonly user: VersionUser | undefined
  readonly version: Version
  /** A transaction if the operation writes. It commits when the handler returns and rolls back when it throws. */
  readonly db: Db
  readonly services: HandlerServices
  readonly pages: Pages
  /** Adds a background job, which starts after the commit. */
  readonly enqueue: <K extends JobKind>(kind: K, payload: JobPayload<K>) => Promise<void>
  /** Ids that a large deletion removed before this transaction. Undefined: the deletion is small. */
  readonly alreadyRemovedIds: readonly string[] | undefined
  /** Runs once the transaction is durable. */
  readonly afterCommit: (work: () => void) => void
  /** Notifies open sessions of the API key, once the transaction is durable and before the caller gets the answer. */
  readonly signal: (message: Signal) => void
  readonly now: number
  readonly log: Log
}

export type Handler<O extends Operation> = SimpleHandler<O> | PreparedWrite<O> | LargeDeletion<O>

export type SimpleHandler<O extends Operation> = (call: Call<O>) => Promise<Answered<O>>

type Answered<O extends Operation> = Output<O> | Reply<Output<O>>

/**
 * A write that may take long to compute. `prepare` computes it before the transaction, so that no other write waits for
 * it. The transaction then checks that the result still fits, and throws `Stale` if it does not: both steps run again.
 */
export interface PreparedWrite<O extends Operation> {
  /** Names what the call writes. Calls with the same subject run one after the other, so that none makes another stale. */
  subject?(call: Call<O>): string
  /** Reads committed data from `call.db` and writes with `writeStep` only. `write` gets the result and declares its type. */
  prepare(call: Call<O>): Promise<unknown>
  write(call: Call<O>, prepared: never): Promise<Answered<O>>
}

/** The prepared result no longer fits the stored data. */
export class Stale extends Error {
  override name = 'Stale'
}

/** A deletion that may be too large for one transaction. Then most of it is removed in steps, before `remove` runs. */
export interface LargeDeletion<O extends Operation> {
  /** What the call deletes. Undefined: always little enough for one transaction. */
  scope(input: Input<O>, now: number): Scope | undefined
  remove: SimpleHandler<O>
}

/** Any handler, for code that runs operations by name. */
export type AnyHandler = Handler<Operation>

/** The handlers of a family, one for each of its declarations. */
export type Handlers<F extends Record<string, Operation>> = { [Verb in keyof F]: Handler<F[Verb]> }

export type AllHandlers = { [F in keyof Operations]: Handlers<Operations[F]> }
