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
import { newId } from './ids.ts'

/** A signal to open sessions: these documents are deleted. Without `documentIds`: all documents of the organization. */
export interface Gone {
  apiKey: string
  organizationId: string
  documentIds?: readonly string[]
  isMoved?: boolean
}

interface DeletionDeps {
  database: Database
  clock: Clock
  onGone: (gone: Gone) => void
  /** A deletion that its server left unfinished is finished now, so the access of users has changed. */
  onFinished: (apiKey: string) => void
  onFailure: (error: unknown, deletion: Deletion) => void
}

/** How long a request waits for a deletion before it fails. */
const maxWaitMs = 10_000
/** How often a waiting request checks whether another server has finished the deletion. */
const pollMs = 200
/** Requests that checked for deletions just before one began have finished reading after this time. */
const graceMs = 100
/** How often the server looks for deletions that no server works on. */
const resumeMs = 5_000

export const beingDeleted = () =>
  new ApiError('ABORTED', 'Something that the request names is being deleted. Try again.', {
    retryAfterSeconds: 1,
  })

/**
 * Deletions that are too large for one transaction (spec 8.4). A deletion begins with a durable record of its scope. Then
 * many short transactions remove the contents, and the last one removes the rest together with the record. Requests that
 * name something in the scope wait until then, so no caller sees a partial deletion. If a server stops before the end,
 * another server, or the same one after its restart, finishes the deletion.
 */
export class Deletions {
  readonly #deps: DeletionDeps
  /** Unfinished deletions by API key. Complete if only this process writes the database. */
  readonly #unfinished = new Map<string, Map<string, Deletion>>()
  /** By API key: callbacks that wake waiting requests. */
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #inBackground = new Map<string, Promise<void>>()
  #stopTimer: StopTimer | undefined
  #isStopped = false

  constructor(deps: DeletionDeps) {
    this.#deps = deps
  }

  /** Whether the API key has unfinished deletions, so that a request may have to wait. Needs no query. */
  mayAffect(key: Pick<ApiKey, 'apiKey' | 'hasDeletions'>): boolean {
    return this.#deps.database.exclusive ? this.#unfinished.has(key.apiKey) : key.hasDeletions === true
  }

  /** Resolves when no deletion removes what the request names. Throws `ABORTED` if that takes too long. */
  async waitWhileAffected(apiKey: string, mention: NamedResources): Promise<void> {
    const { clock } = this.#deps
    const until = clock.elapsed() + maxWaitMs
    while (await this.affects(apiKey, mention)) {
      const leftMs = until - clock.elapsed()
      if (leftMs <= 0) throw beingDeleted()
      await this.#oneFinished(apiKey, leftMs)
    }
  }

  /** Whether a deletion removes something that the request names. */
  async affects(apiKey: string, mention: NamedResources): Promise<boolean> {
    const { read, exclusive } = this.#deps.database
    if (!exclusive) return stored.isBeingDeleted(read, apiKey, mention)
    for (const { scope } of this.#unfinished.get(apiKey)?.values() ?? []) {
      if (await stored.overlaps(read, apiKey, scope, mention)) return true
    }
    return false
  }

  /** Resolves when a deletion of the key is finished, or may be: other servers send no notice. */
  #oneFinished(apiKey: string, leftMs: number): Promise<void> {
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
   * Removes everything inside the scope in short transactions, and returns the ids of removed members or notifications.
   * Undefined: the scope is small enough for the operation's own transaction. Otherwise that transaction must call `finish`,
   * and its caller must call `ended`. The transaction that begins the deletion first checks `isWanted`.
   */
  async begin(
    apiKey: string,
    scope: Scope,
    isWanted: (db: Db) => Promise<boolean>,
  ): Promise<{ deletion: Deletion; removedIds: readonly string[] } | undefined> {
    const { database, clock } = this.#deps
    if (await isSmall(database.read, apiKey, scope)) return undefined
    const deletion = { deletionId: newId('del'), apiKey, scope }
    const removedIds = await this.#removeAfter(deletion, () =>
      database.write(async (db) => {
        if (!(await isWanted(db))) return false
        await stored.add(db, deletion, clock.now(), { isLeased: true })
        return true
      }, apiKey),
    )
    return removedIds && { deletion, removedIds }
  }

  /**
   * Runs a transaction after which the scope must not be visible, then removes the scope in short transactions. False: the
   * transaction returned false, or did not run because the scope is small. Requests that name the documents wait already
   * before the transaction, because they could otherwise see its changes without the steps that follow.
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
    const deletion = { deletionId: newId('del'), apiKey, scope }
    const { deletionId } = deletion
    const add = (db: Db, scope: Scope) =>
      stored.add(db, { deletionId, apiKey, scope }, clock.now(), { isLeased: true })
    const removedIds = await this.#removeAfter(deletion, async () => {
      if (!database.exclusive) {
        await database.write((db) => add(db, reserved), apiKey)
        await this.#pause(graceMs)
      }
      try {
        return await database.write(async (db) => {
          await stored.finish(db, deletionId)
          if (!(await transaction(db))) return false
          await add(db, scope)
          return true
        }, apiKey)
      } catch (error) {
        // If this fails too, the reservation expires with its lease.
        await database.write((db) => stored.finish(db, deletionId), apiKey).catch(() => false)
        throw error
      }
    })
    if (!removedIds) return false
    let isFinished = false
    try {
      await this.#removeRest(deletion)
      isFinished = true
    } finally {
      this.ended(deletion, isFinished)
    }
    return true
  }

  /** Removes the scope once `begin` has recorded the deletion. Undefined: `begin` did not record it. */
  async #removeAfter(
    deletion: Deletion,
    begin: () => Promise<boolean>,
  ): Promise<readonly string[] | undefined> {
    this.#remember(deletion)
    let isBegun = false
    try {
      isBegun = await begin()
    } finally {
      if (!isBegun) this.#forget(deletion)
    }
    if (!isBegun) return undefined
    try {
      this.#signalGone(deletion)
      if (!this.#deps.database.exclusive) await this.#pause(graceMs)
      return await this.#empty(deletion)
    } catch (error) {
      this.ended(deletion, false)
      throw error
    }
  }

  async finish(db: Db, { deletionId }: Deletion): Promise<void> {
    await stored.finish(db, deletionId)
  }

  /** The deletion's own call has ended. If it did not finish the deletion, the deletion is resumed in the background. */
  ended(deletion: Deletion, isFinished: boolean): void {
    if (isFinished) this.#forget(deletion)
    else this.#resumeOne(deletion)
  }

  async start(): Promise<void> {
    const { database, clock } = this.#deps
    // If only this process uses the database, no other server works on the deletions that an earlier run left.
    const left = await stored.findAbandoned(
      database,
      database.exclusive ? Number.MAX_SAFE_INTEGER : clock.now(),
    )
    for (const deletion of left) this.#resumeOne(deletion)
    this.#stopTimer = clock.setInterval(() => void this.resume(), resumeMs)
  }

  /** Deletions stop between two transactions. The next start resumes them. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#stopTimer?.()
    await Promise.all(this.#inBackground.values())
  }

  /** Resumes the deletions that no server works on. */
  async resume(): Promise<void> {
    const { database, clock } = this.#deps
    const left = await stored.findAbandoned(database, clock.now()).catch(() => [])
    for (const deletion of left) this.#resumeOne(deletion)
  }

  #resumeOne(deletion: Deletion): void {
    const { deletionId } = deletion
    if (this.#isStopped || this.#inBackground.has(deletionId)) return
    this.#remember(deletion)
    const completed = this.#complete(deletion)
      .catch((error: unknown) => {
        if (!this.#isStopped) this.#deps.onFailure(error, deletion)
      })
      .finally(() => this.#inBackground.delete(deletionId))
    this.#inBackground.set(deletionId, completed)
  }

  async #complete(deletion: Deletion): Promise<void> {
    const { apiKey, scope } = deletion
    const { onFinished } = this.#deps
    await this.#empty(deletion)
    await this.#removeRest(deletion)
    this.#signalGone(deletion)
    if (!isDoneInSteps(scope)) onFinished(apiKey)
    this.#forget(deletion)
  }

  async #removeRest({ apiKey, deletionId, scope }: Deletion): Promise<void> {
    const { database, clock } = this.#deps
    await database.write(async (db) => {
      if (!(await stored.renew(db, deletionId, clock.now()))) return
      await removeRest(db, apiKey, scope, clock.now())
      await stored.finish(db, deletionId)
    }, apiKey)
  }

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
        // Another server has finished it, so whatever has these ids now is new.
        if (!(await stored.renew(db, deletionId, clock.now()))) return undefined
        return runSteps(db, steps, from, ids)
      }, apiKey)
      if ('folderId' in scope) {
        if (ids.length > 0) onGone({ apiKey, organizationId: scope.organizationId, documentIds: ids })
      } else for (const id of ids) removedIds.push(id)
      await setImmediate()
    }
    return removedIds
  }

  /** Not for a folder: the steps report its documents as they remove them. */
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
  { hiddenNotifications: unknown } | { inboxOf: unknown } | { reserved: unknown }
>

/** Whether the deletion is complete after its steps: nothing is left to remove, and no access changes. */
const isDoneInSteps = (scope: Scope): scope is DoneInSteps =>
  'hiddenNotifications' in scope || 'inboxOf' in scope || 'reserved' in scope

async function removeRest(db: Db, apiKey: string, scope: Scope, now: number): Promise<void> {
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
