import { setImmediate, setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '@plenum/protocol'
import type { ApiKey } from '../store/api-keys.ts'
import type { Database, Db } from '../store/engine/db.ts'
import * as stored from '../store/deletions/deletions.ts'
import type { Deletion, Mention, Scope } from '../store/deletions/deletions.ts'
import * as documents from '../store/documents/documents.ts'
import * as folderTree from '../store/documents/folder-tree.ts'
import { organizationLevel } from '../store/access/grants.ts'
import * as members from '../store/users/members.ts'
import * as notifications from '../store/notifications/notifications.ts'
import * as organizations from '../store/organizations.ts'
import { removersOf } from '../store/deletions/removal.ts'
import { type Position, removeSome } from '../store/deletions/remover.ts'
import { isSmall } from '../store/deletions/removal-size.ts'
import * as userGroups from '../store/users/user-groups.ts'
import { newId } from './ids.ts'

/** What open sessions hear of: documents that are deleted, all of the organization if none are named. */
export interface Gone {
  apiKey: string
  organizationId: string
  documentIds?: readonly string[]
  isMoved?: boolean
}

interface DeletionDeps {
  database: Database
  now: () => number
  onGone: (gone: Gone) => void
  /** A deletion that a server did not finish was finished now: what users may do has changed. */
  onFinished: (apiKey: string) => void
  onFailure: (error: unknown, deletion: Deletion) => void
}

/** How long a request waits for a deletion before it is refused. */
const maxWaitMs = 10_000
/** How often a request that waits looks whether another server has finished the deletion. */
const pollMs = 200
/** Requests that looked for deletions just before one began have read what they need by then. */
const graceMs = 100
/** How often deletions are looked for that no server works on. */
const resumeMs = 5_000

export const beingDeleted = () =>
  new ApiError('ABORTED', 'Something that the request names is being deleted. Try again.', {
    retryAfterSeconds: 1,
  })

/**
 * Deletions that are too large for one transaction (spec 8.4). One begins with a durable note of what it takes away. Then
 * everything inside is removed in many short transactions, and the last one removes the rest with the note. Meanwhile
 * requests that name what is being deleted wait, so that nobody sees a part of it. A deletion that has begun is finished
 * by whatever server is there.
 */
export class Deletions {
  readonly #deps: DeletionDeps
  /** Those that are not finished, by API key. All of them where this process alone writes. */
  readonly #unfinished = new Map<string, Map<string, Deletion>>()
  /** By API key: what wakes the requests that wait. */
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #inBackground = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(deps: DeletionDeps) {
    this.#deps = deps
  }

  /** Whether the API key has a deletion under way, so that `settled` must be asked. Costs nothing if not. */
  mayMeet(key: Pick<ApiKey, 'apiKey' | 'hasDeletions'>): boolean {
    return this.#deps.database.exclusive ? this.#unfinished.has(key.apiKey) : key.hasDeletions === true
  }

  /** Resolves when no deletion takes away what is named; throws `ABORTED` if that takes too long. */
  async settled(apiKey: string, mention: Mention): Promise<void> {
    const until = performance.now() + maxWaitMs
    while (await this.meets(apiKey, mention)) {
      const leftMs = until - performance.now()
      if (leftMs <= 0) throw beingDeleted()
      await this.#oneFinished(apiKey, leftMs)
    }
  }

  /** Whether a deletion takes away something that is named. */
  async meets(apiKey: string, mention: Mention): Promise<boolean> {
    const { read, exclusive } = this.#deps.database
    if (!exclusive) return stored.meets(read, apiKey, mention)
    for (const { scope } of this.#unfinished.get(apiKey)?.values() ?? []) {
      if (await stored.overlaps(read, apiKey, scope, mention)) return true
    }
    return false
  }

  /** Resolves when a deletion of the key is finished, or may be: another server does not tell. */
  #oneFinished(apiKey: string, leftMs: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(apiKey) ?? new Set()
      this.#waiting.set(apiKey, waiting)
      const end = () => {
        clearTimeout(timer)
        waiting.delete(end)
        if (waiting.size === 0) this.#waiting.delete(apiKey)
        resolve()
      }
      const timer = setTimeout(end, this.#deps.database.exclusive ? leftMs : Math.min(pollMs, leftMs))
      waiting.add(end)
    })
  }

  /**
   * Removes everything inside the scope in short transactions, and gives the ids of removed members or notifications. Gives
   * undefined if the scope is small enough for the operation's own transaction. Otherwise that transaction must call
   * `finish`, and its caller `ended`. `isWanted` is asked in the transaction that begins the deletion.
   */
  async begin(
    apiKey: string,
    scope: Scope,
    isWanted: (db: Db) => Promise<boolean>,
  ): Promise<{ deletion: Deletion; removedIds: readonly string[] } | undefined> {
    const { database, now } = this.#deps
    if (await isSmall(database.read, apiKey, scope)) return undefined
    const deletion = { deletionId: newId('del'), apiKey, scope }
    const removedIds = await this.#removeAfter(deletion, () =>
      database.write(async (db) => {
        if (!(await isWanted(db))) return false
        await stored.add(db, deletion, now(), { isLeased: true })
        return true
      }, apiKey),
    )
    return removedIds && { deletion, removedIds }
  }

  /**
   * Runs a transaction after which what is in the scope must not be seen, and removes it in short transactions. False: the
   * transaction gave false, or was not run because the scope is small. Requests that name the documents wait from before
   * the transaction on, because they could see what it changed without what follows.
   */
  async removeWith(
    apiKey: string,
    scope: Extract<Scope, { movedTo?: string }>,
    transaction: (db: Db) => Promise<boolean>,
  ): Promise<boolean> {
    const { database, now } = this.#deps
    if (await isSmall(database.read, apiKey, scope)) return false
    const { organizationId, documentIds, movedTo = [] } = scope
    const reserved = { organizationId, reserved: documentIds.concat(movedTo) }
    const deletion = { deletionId: newId('del'), apiKey, scope }
    const { deletionId } = deletion
    const add = (db: Db, scope: Scope) =>
      stored.add(db, { deletionId, apiKey, scope }, now(), { isLeased: true })
    const removedIds = await this.#removeAfter(deletion, async () => {
      if (!database.exclusive) {
        await database.write((db) => add(db, reserved), apiKey)
        await pause(graceMs)
      }
      try {
        return await database.write(async (db) => {
          await stored.finish(db, deletionId)
          if (!(await transaction(db))) return false
          await add(db, scope)
          return true
        }, apiKey)
      } catch (error) {
        // If that fails too, the reservation ends with its lease.
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

  /** Removes what is in the scope once `begin` has noted the deletion. Undefined: it has not. */
  async #removeAfter(
    deletion: Deletion,
    begin: () => Promise<boolean>,
  ): Promise<readonly string[] | undefined> {
    this.#note(deletion)
    let isBegun = false
    try {
      isBegun = await begin()
    } finally {
      if (!isBegun) this.#forget(deletion)
    }
    if (!isBegun) return undefined
    try {
      this.#tellGone(deletion)
      if (!this.#deps.database.exclusive) await pause(graceMs)
      return await this.#empty(deletion)
    } catch (error) {
      this.ended(deletion, false)
      throw error
    }
  }

  async finish(db: Db, { deletionId }: Deletion): Promise<void> {
    await stored.finish(db, deletionId)
  }

  /** If it is not finished, it is carried on. */
  ended(deletion: Deletion, isFinished: boolean): void {
    if (isFinished) this.#forget(deletion)
    else this.#carryOn(deletion)
  }

  async start(): Promise<void> {
    const { database, now } = this.#deps
    // A server that is alone on its database knows that nobody else works on what is left from before.
    const left = await stored.abandoned(database, database.exclusive ? Number.MAX_SAFE_INTEGER : now())
    for (const deletion of left) this.#carryOn(deletion)
    this.#timer = setInterval(() => void this.resume(), resumeMs).unref()
  }

  /** Deletions stop between two transactions; the next start carries them on. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#timer)
    await Promise.all(this.#inBackground.values())
  }

  /** Carries on the deletions that no server works on. */
  async resume(): Promise<void> {
    const { database, now } = this.#deps
    const left = await stored.abandoned(database, now()).catch(() => [])
    for (const deletion of left) this.#carryOn(deletion)
  }

  #carryOn(deletion: Deletion): void {
    const { deletionId } = deletion
    if (this.#isStopped || this.#inBackground.has(deletionId)) return
    this.#note(deletion)
    const carriedOn = this.#complete(deletion)
      .catch((error: unknown) => {
        if (!this.#isStopped) this.#deps.onFailure(error, deletion)
      })
      .finally(() => this.#inBackground.delete(deletionId))
    this.#inBackground.set(deletionId, carriedOn)
  }

  async #complete(deletion: Deletion): Promise<void> {
    const { apiKey, scope } = deletion
    const { onFinished } = this.#deps
    await this.#empty(deletion)
    await this.#removeRest(deletion)
    this.#tellGone(deletion)
    if (!isDoneInSteps(scope)) onFinished(apiKey)
    this.#forget(deletion)
  }

  async #removeRest({ apiKey, deletionId, scope }: Deletion): Promise<void> {
    const { database, now } = this.#deps
    await database.write(async (db) => {
      if (!(await stored.renew(db, deletionId, now()))) return
      await removeRest(db, apiKey, scope, now())
      await stored.finish(db, deletionId)
    }, apiKey)
  }

  async #empty({ deletionId, apiKey, scope }: Deletion): Promise<readonly string[]> {
    const { database, now, onGone } = this.#deps
    const removers = removersOf(apiKey, scope)
    const removedIds: string[] = []
    for (let next: Position | undefined = { remover: 0 }; next;) {
      const from: Position = next
      if (this.#isStopped) throw stopped()
      let ids: string[] = []
      next = await database.write(async (db) => {
        ids = []
        // Somebody else has finished it: what has these ids now is something new.
        if (!(await stored.renew(db, deletionId, now()))) return undefined
        return removeSome(db, removers, from, ids)
      }, apiKey)
      if ('folderId' in scope) {
        if (ids.length > 0) onGone({ apiKey, organizationId: scope.organizationId, documentIds: ids })
      } else for (const id of ids) removedIds.push(id)
      await setImmediate()
    }
    return removedIds
  }

  /** Of a folder it is not known yet which documents it holds. */
  #tellGone({ apiKey, scope }: Deletion): void {
    const { onGone } = this.#deps
    if ('organizationIds' in scope) {
      for (const organizationId of scope.organizationIds) onGone({ apiKey, organizationId })
    } else if ('documentIds' in scope) {
      const { organizationId, documentIds, movedTo } = scope
      onGone({ apiKey, organizationId, documentIds, ...(movedTo !== undefined && { isMoved: true }) })
    }
  }

  #note(deletion: Deletion): void {
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
}

const stopped = () =>
  new ApiError('UNAVAILABLE', 'The server is shutting down. It carries the deletion on when it is back.', {
    retryAfterSeconds: 1,
  })

type DoneInSteps = Extract<
  Scope,
  { hiddenNotifications: unknown } | { inboxOf: unknown } | { reserved: unknown }
>

/** Whether the deletion is complete after its steps: nothing is left to remove, and nobody's access changes. */
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
    const later = { deletionId: newId('del'), now, onHidden: () => {} }
    await notifications.remove(db, apiKey, { organizationId, ...scope.notificationsOf }, later)
  }
}
