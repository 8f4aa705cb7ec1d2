import { setImmediate } from 'node:timers/promises'
import { ApiError } from '@plenum/protocol'
import type { Clock, StopTimer } from '../platform/clock.ts'
import type { ApiKey } from '../store/api-keys.ts'
import type { Database, Db } from '../store/engine/db.ts'
import * as stored from '../store/deletions.ts'
import type { Deletion, NamedResources, Scope } from '../store/deletions.ts'
import * as documents from '../store/documents/documents.ts'
import * as folderTree from '../store/documents/folder-tree.ts'
import { organizationLevel } from '../store/access/grants.ts'
import * as members from '../store/users/members.ts'
import * as notifications from '../store/notifications/notifications.ts'
import * as organizations from '../store/organizations.ts'
import { removalSteps } from '../store/deletions/removal.ts'
import { type Position, runSteps } from '../store/deletions/row-step.ts'
import { isSmall } from '../store/deletions/removal-size.ts'
import * as userGroups from '../store/users/user-groups.ts'
import { newId } from '../access/ids.ts'

/** Documents that are deleted or moved, for open sessions. Without `documentIds`: all documents of the organization. */
export interface DeletedDocuments {
  apiKey: string
  organizationId: string
  documentIds?: readonly string[]
  /** Whether the documents now have another id. */
  isMoved?: boolean
}

interface LargeDeletionDeps {
  database: Database
  clock: Clock
  onGone: (documents: DeletedDocuments) => void
  /**
   * For a deletion that can change the access of any user of the API key, and for which no request waits. `store` runs in its
   * last transaction, and `publish` after it.
   */
  createAccessChange: (apiKey: string) => { store(db: Db): Promise<void>; publish(): void }
  onFailure: (error: unknown, deletion: Deletion) => void
}

/** How long a request waits for a deletion before it fails. */
const maxWaitMs = 10_000
/** How often a waiting request checks whether another server has finished the deletion. */
const pollMs = 200
/**
 * On PostgreSQL: the pause after a deletion is recorded. A request on another server that looked for deletions just before
 * the record was written has read its data by then.
 */
const graceMs = 100
/** How often the server looks for deletions whose server has died. */
const resumeMs = 5_000

/**
 * Runs the deletions that are too large for one transaction (spec 8.4). A deletion begins with a durable record of its
 * scope. Then many short transactions remove the contents of the scope, and the last transaction removes the scope itself
 * and the record. Requests that name something in the scope wait until then, so no caller sees a partial deletion. The
 * record has a lease, which each transaction renews. If a server stops before the end, another server, or the same one
 * after its restart, finishes the deletion.
 */
export class LargeDeletions {
  readonly #deps: LargeDeletionDeps
  /** By API key and deletion id. If other servers use the database too, their deletions are missing here. */
  readonly #unfinished = new Map<string, Map<string, Deletion>>()
  /** By API key: callbacks that wake waiting requests. */
  readonly #waiting = new Map<string, Set<() => void>>()
  /** The deletions that run without a request, by their id. */
  readonly #inBackground = new Map<string, Promise<void>>()
  #stopTimer: StopTimer | undefined
  #isStopped = false

  constructor(deps: LargeDeletionDeps) {
    this.#deps = deps
  }

  /** Whether the API key has unfinished deletions, so that its requests may have to wait. Needs no query. */
  mayAffect(key: Pick<ApiKey, 'apiKey' | 'hasDeletions'>): boolean {
    return this.#deps.database.exclusive ? this.#unfinished.has(key.apiKey) : key.hasDeletions === true
  }

  /** Resolves when no deletion removes what the request names. Throws `ABORTED` after `maxWaitMs`. */
  async waitWhileAffected(apiKey: string, named: NamedResources): Promise<void> {
    const { clock } = this.#deps
    const until = clock.elapsed() + maxWaitMs
    while (await this.affects(apiKey, named)) {
      const leftMs = until - clock.elapsed()
      if (leftMs <= 0) throw stored.beingDeleted()
      await this.#waitForNextFinished(apiKey, leftMs)
    }
  }

  /** Whether a deletion removes something that the request names. */
  async affects(apiKey: string, named: NamedResources): Promise<boolean> {
    const { read, exclusive } = this.#deps.database
    if (!exclusive) return stored.isBeingDeleted(read, apiKey, named)
    for (const { scope } of this.#unfinished.get(apiKey)?.values() ?? []) {
      if (await stored.overlaps(read, apiKey, scope, named)) return true
    }
    return false
  }

  /**
   * Resolves when this server has finished a deletion of the API key, at the latest after `leftMs`. If other servers use
   * the database, at the latest after `pollMs`: they send no notice.
   */
  #waitForNextFinished(apiKey: string, leftMs: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(apiKey) ?? new Set()
      this.#waiting.set(apiKey, waiting)
      const end = () => {
        stopTimer()
        waiting.delete(end)
        if (waiting.size === 0) this.#waiting.delete(apiKey)
        resolve()
      }
      const { clock, database } = this.#deps
      const stopTimer = clock.setTimeout(end, database.exclusive ? leftMs : Math.min(pollMs, leftMs))
      waiting.add(end)
    })
  }

  /**
   * Records a deletion and removes everything inside the scope in short transactions. Returns the deletion and the ids of
   * the removed group members or notifications (see `RowStep`). The caller then removes the scope itself in a transaction
   * that calls `removeRecord`, and calls `onCallEnded` afterwards. Returns undefined, and removes nothing, if the scope is
   * small enough for one transaction or `isWanted` returns false. `isWanted` runs in the transaction that records the
   * deletion.
   */
  async begin(
    apiKey: string,
    scope: Scope,
    isWanted: (db: Db) => Promise<boolean>,
  ): Promise<{ deletion: Deletion; removedIds: readonly string[] } | undefined> {
    const { database, clock } = this.#deps
    if (await isSmall(database.read, apiKey, scope)) return undefined
    const deletion = { deletionId: newId('del'), apiKey, scope }
    const removedIds = await this.#recordAndEmpty(deletion, () =>
      database.write(async (db) => {
        if (!(await isWanted(db))) return false
        await stored.add(db, deletion, clock.now(), { isLeased: true })
        return true
      }, apiKey),
    )
    return removedIds && { deletion, removedIds }
  }

  /**
   * Runs a transaction that moves documents, then moves or removes, in short transactions, the rows that it left at the old
   * ids. Returns false if the transaction returned false, or did not run because the scope is small. Requests that name the
   * documents wait from before the transaction until the last step, because a partly moved document must not be visible.
   */
  async removeWith(
    apiKey: string,
    scope: Extract<Scope, { movedTo?: string }>,
    transaction: (db: Db) => Promise<boolean>,
  ): Promise<boolean> {
    const { database, clock } = this.#deps
    if (await isSmall(database.read, apiKey, scope)) return false
    const { organizationId, documentIds, movedTo = [] } = scope
    const reserved = { organizationId, reserved: documentIds.concat(movedTo) }
    const reservation = { deletionId: newId('del'), apiKey, scope: reserved }
    const deletion = { deletionId: newId('del'), apiKey, scope }
    const add = (db: Db, one: Deletion) => stored.add(db, one, clock.now(), { isLeased: true })
    const removeReservation = (db: Db) => stored.finish(db, apiKey, reservation.deletionId)
    const removedIds = await this.#recordAndEmpty(deletion, async () => {
      if (!database.exclusive) {
        await database.write((db) => add(db, reservation), apiKey)
        await this.#pause(graceMs)
      }
      try {
        return await database.write(async (db) => {
          await removeReservation(db)
          if (!(await transaction(db))) return false
          await add(db, deletion)
          return true
        }, apiKey)
      } catch (error) {
        // If this fails too, the reservation expires with its lease. If the answer to the commit was lost, the record of the
        // deletion is stored, and `resume` finds it after its lease.
        await database.write(removeReservation, apiKey).catch(() => false)
        throw error
      }
    })
    if (!removedIds) return false
    let isFinished = false
    try {
      await this.#removeScopeAndRecord(deletion)
      isFinished = true
    } finally {
      this.onCallEnded(deletion, isFinished)
    }
    return true
  }

  /** Calls `record`, then removes everything inside the scope. Returns undefined if `record` returned false. */
  async #recordAndEmpty(
    deletion: Deletion,
    record: () => Promise<boolean>,
  ): Promise<readonly string[] | undefined> {
    this.#remember(deletion)
    let isRecorded = false
    try {
      isRecorded = await record()
    } finally {
      if (!isRecorded) this.#forget(deletion)
    }
    if (!isRecorded) return undefined
    try {
      this.#signalGone(deletion)
      if (!this.#deps.database.exclusive) await this.#pause(graceMs)
      return await this.#empty(deletion)
    } catch (error) {
      this.onCallEnded(deletion, false)
      throw error
    }
  }

  /** Removes the record of the deletion, in the transaction that removes the scope itself. */
  async removeRecord(db: Db, { apiKey, deletionId }: Deletion): Promise<void> {
    await stored.finish(db, apiKey, deletionId)
  }

  /** Call it when the call that began the deletion has ended. An unfinished deletion is resumed in the background. */
  onCallEnded(deletion: Deletion, isFinished: boolean): void {
    if (isFinished) this.#forget(deletion)
    else this.#resumeOne(deletion)
  }

  async start(): Promise<void> {
    const { database, clock } = this.#deps
    // If only this process uses the database, the leases of an earlier run have no holder any more.
    const left = await stored.findAbandoned(
      database,
      database.exclusive ? Number.MAX_SAFE_INTEGER : clock.now(),
    )
    for (const deletion of left) this.#resumeOne(deletion)
    this.#stopTimer = clock.setInterval(() => void this.resume(), resumeMs)
  }

  /** Stops the deletions between two transactions. The next start resumes them. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#stopTimer?.()
    await Promise.all(this.#inBackground.values())
  }

  /** Resumes the deletions whose lease is over: no server works on them. */
  async resume(): Promise<void> {
    const { database, clock } = this.#deps
    const left = await stored.findAbandoned(database, clock.now()).catch(() => [])
    for (const deletion of left) this.#resumeOne(deletion)
  }

  #resumeOne(deletion: Deletion): void {
    const { deletionId } = deletion
    if (this.#isStopped || this.#inBackground.has(deletionId)) return
    this.#remember(deletion)
    const ended = this.#runToEnd(deletion)
      .catch((error: unknown) => {
        if (!this.#isStopped) this.#deps.onFailure(error, deletion)
      })
      .finally(() => this.#inBackground.delete(deletionId))
    this.#inBackground.set(deletionId, ended)
  }

  async #runToEnd(deletion: Deletion): Promise<void> {
    const { apiKey, scope } = deletion
    const accessChange = isDoneInSteps(scope) ? undefined : this.#deps.createAccessChange(apiKey)
    await this.#empty(deletion)
    await this.#removeScopeAndRecord(deletion, accessChange?.store)
    this.#signalGone(deletion)
    accessChange?.publish()
    this.#forget(deletion)
  }

  /** The last transaction of a deletion. */
  async #removeScopeAndRecord(
    { apiKey, deletionId, scope }: Deletion,
    onRemoved: (db: Db) => Promise<void> = async () => {},
  ): Promise<void> {
    const { database, clock } = this.#deps
    await database.write(async (db) => {
      if (!(await stored.renew(db, apiKey, deletionId, clock.now()))) return
      await removeScopeItself(db, apiKey, scope, clock.now())
      await stored.finish(db, apiKey, deletionId)
      await onRemoved(db)
    }, apiKey)
  }

  /** Removes everything inside the scope. Returns the ids of the removed group members or notifications. */
  async #empty({ deletionId, apiKey, scope }: Deletion): Promise<readonly string[]> {
    const { database, clock, onGone } = this.#deps
    const steps = removalSteps(apiKey, scope)
    const removedIds: string[] = []
    for (let next: Position | undefined = { step: 0 }; next;) {
      const from: Position = next
      if (this.#isStopped) throw stopped()
      let ids: string[] = []
      next = await database.write(async (db) => {
        ids = []
        // If the record is gone, another server has finished the deletion, and rows that have the deleted ids now are new.
        if (!(await stored.renew(db, apiKey, deletionId, clock.now()))) return undefined
        return runSteps(db, steps, from, ids)
      }, apiKey)
      if ('folderId' in scope) {
        if (ids.length > 0) onGone({ apiKey, organizationId: scope.organizationId, documentIds: ids })
      } else for (const id of ids) removedIds.push(id)
      await setImmediate()
    }
    return removedIds
  }

  /** Reports the deleted documents, except those of a folder: `#empty` reports these as it removes them. */
  #signalGone({ apiKey, scope }: Deletion): void {
    const { onGone } = this.#deps
    if ('organizationIds' in scope) {
      for (const organizationId of scope.organizationIds) onGone({ apiKey, organizationId })
    } else if ('documentIds' in scope) {
      const { organizationId, documentIds, movedTo } = scope
      onGone({ apiKey, organizationId, documentIds, ...(movedTo !== undefined && { isMoved: true }) })
    }
  }

  #remember(deletion: Deletion): void {
    const { apiKey, deletionId } = deletion
    const unfinished = this.#unfinished.get(apiKey) ?? new Map<string, Deletion>()
    this.#unfinished.set(apiKey, unfinished.set(deletionId, deletion))
  }

  #forget({ apiKey, deletionId }: Deletion): void {
    const unfinished = this.#unfinished.get(apiKey)
    unfinished?.delete(deletionId)
    if (unfinished?.size === 0) this.#unfinished.delete(apiKey)
    for (const wake of this.#waiting.get(apiKey) ?? []) wake()
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#deps.clock.setTimeout(resolve, ms))
  }
}

const stopped = () =>
  new ApiError('UNAVAILABLE', 'The server is shutting down. It finishes the deletion after its restart.', {
    retryAfterSeconds: 1,
  })

type DoneInSteps = Extract<
  Scope,
  | { hiddenNotifications: unknown }
  | { notificationsAbout: unknown }
  | { inboxOf: unknown }
  | { activitiesOf: unknown }
  | { reserved: unknown }
>

/** Whether emptying the scope is the whole deletion: the scope itself is not stored, and no access changes. */
const isDoneInSteps = (scope: Scope): scope is DoneInSteps =>
  'hiddenNotifications' in scope ||
  'notificationsAbout' in scope ||
  'inboxOf' in scope ||
  'activitiesOf' in scope ||
  'reserved' in scope

/** Removes what the scope names: the organizations, the folder, the documents, the memberships or the notifications. */
async function removeScopeItself(db: Db, apiKey: string, scope: Scope, now: number): Promise<void> {
  if (isDoneInSteps(scope)) return
  if ('organizationIds' in scope) return void (await organizations.remove(db, apiKey, scope.organizationIds))
  const { organizationId } = scope
  if ('folderId' in scope) await folderTree.remove(db, apiKey, organizationId, scope.folderId)
  else if ('documentIds' in scope) await documents.remove(db, apiKey, organizationId, scope.documentIds)
  else if ('groupId' in scope) await userGroups.removeUsers(db, apiKey, organizationId, scope.groupId, 'all')
  else if ('userIds' in scope) {
    await members.remove(db, apiKey, organizationLevel(organizationId), scope.userIds, now)
  } else {
    const deferred = { deletionId: newId('del'), now, onHidden: () => {} }
    await notifications.remove(db, apiKey, { organizationId, ...scope.notificationsOf }, deferred)
  }
}
