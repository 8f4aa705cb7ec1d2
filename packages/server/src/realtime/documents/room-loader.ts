import type { CloseReason } from '@plenum/protocol/realtime'
import type { Limits } from '../../config.ts'
import type { Crdt } from '../../crdt/crdt.ts'
import { sourceOf } from '../../crdt/document-threads.ts'
import type { SharedLists } from '../../peers/shared-lists.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Limiter } from '../../platform/turns/limiter.ts'
import * as editorLog from '../../store/editors/log.ts'
import type { Database } from '../../store/engine/db.ts'
import type { EditorRef } from '../../store/refs.ts'
import type { Appender } from '../rooms/appender.ts'
import { ReservedClientIds } from '../rooms/awareness/reserved-client-ids.ts'
import { EditorRoom } from '../rooms/room.ts'

export interface RoomLoaderDeps {
  database: Database
  crdt: Crdt
  appender: Pick<Appender, 'wake' | 'makeSpace' | 'catchUp' | 'track'>
  limits: Pick<Limits, 'editorBytes'>
  /** Limits client-triggered queries, fairly per user. */
  gate: Limiter
  /** Lists over all servers. */
  sharedLists: SharedLists
  log: Log
}

export interface RoomRequest {
  apiKey: string
  ref: EditorRef
  /** The user in whose lane the database is read. */
  userId: string
  /** Runs a broadcast step by step, in turns with other work. */
  run: (steps: Iterator<unknown>) => void
  onDropped: (room: EditorRoom, reason: CloseReason, message: string) => void
}

/** Builds the rooms of editors from their stored logs. */
export class RoomLoader {
  readonly #deps: RoomLoaderDeps
  readonly #reservedClientIds = new ReservedClientIds()

  constructor(deps: RoomLoaderDeps) {
    this.#deps = deps
  }

  async load(request: RoomRequest): Promise<EditorRoom> {
    try {
      return await this.#load(request)
    } catch (error) {
      this.#deps.log.error({ err: error, ...request.ref }, 'an editor could not be read')
      throw error
    }
  }

  async #load({ apiKey, ref, userId, run, onDropped }: RoomRequest): Promise<EditorRoom> {
    const { database, crdt, appender, limits, gate, sharedLists, log } = this.#deps
    const stored = await gate.run(apiKey, () => editorLog.load(database.read, apiKey, ref), userId)
    // Clients are sent only what is durable.
    await database.durable()
    if (stored && !stored.complete) throw new Error('Updates are missing from the log.')
    const updates = stored?.updates.map(({ bytes }) => bytes) ?? []
    const source = sourceOf(apiKey, ref, stored ?? { createdAt: undefined, seq: 0 })
    const index = await crdt.index(source, stored?.snapshot ? [stored.snapshot, ...updates] : updates)
    return new EditorRoom({
      apiKey,
      ref,
      index,
      stored,
      crdt,
      maxBytes: limits.editorBytes,
      wake: appender.wake,
      catchUp: database.exclusive ? undefined : (room, userId) => appender.catchUp(room, userId),
      onCatchingUp: appender.track,
      onError(room, error) {
        log.error({ err: error, ...ref }, 'updates could not be checked again')
        room.drop('unavailable', 'What was sent could not be stored.')
      },
      makeSpace: appender.makeSpace,
      sharedLists,
      reservedClientIds: this.#reservedClientIds,
      run,
      onDropped,
    })
  }
}
