import type {
  ApiError,
  Input,
  Operation,
  Operations,
  Output,
  ApiVersion,
  VersionUser,
} from '@plenum/protocol'
import type { Credentials } from '../access/credentials/credentials.ts'
import type { Pages } from './answers/page-tokens.ts'
import type { NewEvents } from './new-events.ts'
import type { UserSession } from '../access/sessions/session-access.ts'
import type { EventNames } from '../access/credentials/event-names.ts'
import type { Secrets } from '../access/credentials/secrets.ts'
import type { PermissionProvider } from '../access/provider/permission-provider.ts'
import type { UserTokens } from '../access/tokens/user-tokens.ts'
import type { Config, Limits, NewKeyOptions } from '../config.ts'
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
import type { Reply } from './answers/reply.ts'

/** The caller of an operation, by the operation's access level. */
export interface Callers {
  public: { address: string }
  workspace: { workspaceId: string }
  apiKey: ApiKey
  user: UserCaller
  body: ApiKey
}

/** The caller of an operation that users may call too. */
export interface UserCaller extends ApiKey {
  /** Undefined: a backend calls with the credentials of the API key. */
  readonly user?: CallingUser
}

/** A user, identified by a token. */
export interface CallingUser {
  readonly userId: string
  readonly name: string | undefined
  readonly isAdmin: boolean
  /** The grants of the token. */
  readonly session: UserSession
}

/** What a handler may use besides its transaction. */
export interface HandlerServices {
  readonly clock: Clock
  readonly credentials: Credentials
  readonly secrets: Secrets
  readonly userTokens: UserTokens
  /** Do not wait for it in a transaction. */
  readonly permissionProvider: PermissionProvider
  /** Whether webhooks may call the URL (spec N1.3). */
  readonly isWebhookUrl: (url: string) => boolean
  readonly isDisposable: (email: string) => boolean
  readonly limits: Limits
  readonly workspaceCreation: Config['workspaceCreation']
  /** The options of new API keys that the settings decide. */
  readonly newKeyOptions: NewKeyOptions
  readonly eventRetentionDays: number
  /** How callers see the numbers of the event log. */
  readonly eventNames: () => EventNames
  /** Lets a reader of the event log wait. */
  readonly newEvents: Pick<NewEvents, 'wait'>
  /** Hosts at which login links may lead, besides `localhost`. */
  readonly consoleHosts: readonly string[]
  /** Builds the documents of editors, in a thread if that may take long. */
  readonly storedDocuments: StoredDocuments
  /** Divides long reads into slices, between which other work runs. */
  readonly longReads: LongReads
  readonly snapshots: Pick<SnapshotWriter, 'write'>
  /** Returns which of these API keys have a webhook for changed editors. */
  readonly editorEventsWantedBy: (db: Db, apiKeys: readonly string[]) => Promise<ReadonlySet<string>>
  /** Takes a named lock until the transaction ends, for checks that the lock of a row cannot protect. */
  readonly lock: Database['lock']
  /** Makes the job runner look for jobs in a lane of the API key. Call it after the commit that added a job. */
  readonly wakeJobs: (apiKey: string, lane?: string) => void
  /** Starts the recorded deletions that no server works on. */
  readonly resumeDeletions: () => void
  /**
   * Runs a short transaction of its own, for `prepare`. What it writes must stay invisible until the operation's last
   * transaction, unless the items of a batch may become visible one by one.
   */
  readonly writeStep: Database['write']
}

/** Everything that the handler of an operation may use. */
export interface Call<O extends Operation = Operation> {
  readonly input: Input<O>
  readonly caller: Callers[O['access']]
  /** The user whose live client sent the request. Undefined: a backend sent it. */
  readonly user: VersionUser | undefined
  readonly version: ApiVersion
  /**
   * If the operation writes: its transaction, which other calls may share. What the handler writes is committed after it
   * returns, and undone if it throws.
   */
  readonly db: Db
  readonly services: HandlerServices
  readonly pages: Pages
  /** Adds a background job, which starts after the commit. */
  readonly enqueue: <K extends JobKind>(kind: K, payload: JobPayload<K>) => Promise<void>
  /** The ids of what a large deletion removed before this transaction. Undefined: the deletion is small. */
  readonly alreadyRemovedIds: readonly string[] | undefined
  /** Runs once the transaction is durable. */
  readonly afterCommit: (work: () => void) => void
  /** Notifies open sessions of the API key, once the transaction is durable and before the caller gets the answer. */
  readonly signal: (message: Signal) => void
  readonly now: number
  readonly log: Log
  /** Aborted when nobody waits for the answer any more. Pass it to `longReads.open`. Undefined: unknown. */
  readonly abandoned: AbortSignal | undefined
}

export type Handler<O extends Operation> =
  | SimpleHandler<O>
  | CombinedWrite<O>
  | PreparedWrite<O>
  | LargeDeletion<O>

export type SimpleHandler<O extends Operation> = (call: Call<O>) => Promise<Answered<O>>

type Answered<O extends Operation> = Output<O> | Reply<Output<O>>

/**
 * A write that costs little more for many calls than for one. Short calls that arrive at the same time run together, except
 * calls with an idempotency key and calls of live clients.
 */
export interface CombinedWrite<O extends Operation> {
  /**
   * Runs in a transaction that the calls share: all have the same `db`, but may have different API keys. Returns for each
   * call, in their order, its answer, or the reason why it is refused. A refused call must not have written. Undefined: the
   * call is left for the next transaction, because this one would become long. At least one call must get an answer or a
   * refusal. If `writeAll` throws, the transaction is rolled back and it runs again for each call alone.
   */
  writeAll(calls: readonly Call<O>[]): Promise<(Answered<O> | ApiError | undefined)[]>
}

/**
 * A write that may take long to compute. `prepare` computes it before the transaction, so that no other write waits for
 * it. `write` then runs in the transaction. If the data that `prepare` read has changed since, `write` throws `Stale`, and
 * both run again.
 */
export interface PreparedWrite<O extends Operation> {
  /**
   * Names what the call writes. Calls with the same subject run one after the other, so that they do not make each other
   * stale.
   */
  subject?(call: Call<O>): string
  /** Reads committed data from `call.db`, and writes with `writeStep` only. The result is the second argument of `write`. */
  prepare(call: Call<O>): Promise<unknown>
  write(call: Call<O>, prepared: never): Promise<Answered<O>>
  /**
   * Prepares calls that waited for the same subject, in their order, as one change: `write` then runs for the last of them, and
   * its answer, which must contain nothing of its own, is that of all. The result must do what the calls one after the other
   * would do. If it throws, each call runs alone.
   */
  prepareTogether?(calls: readonly Call<O>[]): Promise<unknown>
  /** Whether `write` is short if the request is, so that it may share a transaction with other writes. Default: false. */
  readonly isShort?: boolean
}

/** Thrown by `write` if the stored data has changed since `prepare` read it. */
export class Stale extends Error {
  override name = 'Stale'
}

/** A deletion that may be too large for one transaction. Then most of it is removed in steps, before `remove` runs. */
export interface LargeDeletion<O extends Operation> {
  /** What the call deletes. Undefined: the call never deletes more than one transaction can. */
  scope(input: Input<O>, now: number): Scope | undefined
  remove: SimpleHandler<O>
}

/** A handler of any operation, for code that does not know the operation's types. */
export type AnyHandler = Handler<Operation>

/** The handlers of a family: one for each operation that it declares. */
export type Handlers<F extends Record<string, Operation>> = { [Verb in keyof F]: Handler<F[Verb]> }

export type AllHandlers = { [F in keyof Operations]: Handlers<Operations[F]> }
