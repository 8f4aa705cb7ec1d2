import type { ErrorStatus } from '@plenum/protocol'
import { sourceOf } from '../../crdt/document-threads.ts'
import { UnfitContent } from '../../crdt/content/errors.ts'
import type { StoredDocuments } from '../../crdt/stored-documents.ts'
import type { Limiter } from '../../platform/turns/limiter.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import * as editors from '../../store/editors/editors.ts'
import type { Contents } from '../../store/editors/editors.ts'
import { type Commits, retryWhileAllowed, maxPause } from '../authorization/commits.ts'
import type { EditorRoom } from '../rooms/room.ts'
import type { Participant } from '../documents/participant.ts'

/** The type and content key that a client declares for an editor. */
export interface Declaration {
  type: NonNullable<Contents['type']> | undefined
  contentKey: string | undefined
}

export interface DeclarationRefusal {
  status: ErrorStatus
  message: string
}

export interface DeclarationsDeps {
  database: Database
  storedDocuments: Pick<StoredDocuments, 'declare'>
  commits: Commits
  gate: Limiter
  log: Log
}

/**
 * Stores what clients declare about the content of editors. A declaration replaces an earlier one if the root of the
 * earlier one is empty. Only the Yjs document shows whether that root is empty, so the document is built if the two
 * declarations differ.
 */
export class Declarations {
  readonly #deps: DeclarationsDeps
  /** Checks in progress. Clients that open an editor at the same time with the same declaration share one check. */
  readonly #checks = new Map<string, Promise<string>>()
  /** The latest write of each room. It may be stored before the room knows of it. */
  readonly #writes = new WeakMap<EditorRoom, Promise<void>>()

  constructor(deps: DeclarationsDeps) {
    this.#deps = deps
  }

  /** Resolves with the reason if the declaration is refused. The caller has checked that the sender may write. */
  async declare(
    room: EditorRoom,
    declaration: Declaration,
    sender: Participant,
  ): Promise<DeclarationRefusal | undefined> {
    if (room.createdAt === undefined) {
      const { type = null, contentKey = null } = declaration
      room.declared = { type, contentKey }
      return undefined
    }
    try {
      await this.#writes.get(room)?.catch(() => {})
      if (matches(room.declared, declaration)) return undefined
      await this.#replace(room, declaration, sender)
      return undefined
    } catch (error) {
      if (error instanceof UnfitContent) return { status: 'INVALID_ARGUMENT', message: error.message }
      this.#deps.log.error({ err: error, ...room.ref }, 'the declaration of an editor could not be stored')
      return { status: 'UNAVAILABLE', message: 'The type and content key could not be stored.' }
    }
  }

  async #replace(room: EditorRoom, declaration: Declaration, sender: Participant): Promise<void> {
    const { apiKey, ref } = room
    const { database, gate } = this.#deps
    const read = () => editors.findDeclared(database.read, apiKey, ref)
    const declared = await gate.run(apiKey, read, sender.identity.userId)
    if (!declared) return
    // The room may not know the newest declaration: of another server, or one whose commit got no answer.
    room.declared = { type: declared.type, contentKey: declared.contentKey }
    if (matches(declared, declaration)) return
    const contentKey = await this.#check(room, declared, declaration)
    const type = declaration.type ?? (contentKey === declared.contentKey ? declared.type : null)
    const write = this.#store(room, declared, { type, contentKey }, sender)
    this.#writes.set(room, write)
    await write
  }

  #check(room: EditorRoom, declared: Contents, { type, contentKey }: Declaration): Promise<string> {
    const { apiKey, ref, createdAt, committed } = room
    const source = sourceOf(apiKey, ref, { createdAt, seq: committed.seq })
    const id = JSON.stringify([source, type, contentKey])
    const running = this.#checks.get(id)
    if (running) return running
    const sent = { type, contentKey }
    const check = this.#deps.storedDocuments
      .declare(source, committed.parts, declared, sent)
      .finally(() => this.#checks.delete(id))
    this.#checks.set(id, check)
    return check
  }

  /** Stores nothing if another declaration came first, or if the sender may not write any more. */
  async #store(
    room: EditorRoom,
    before: editors.Declared,
    after: Contents,
    sender: Participant,
  ): Promise<void> {
    const { apiKey, ref } = room
    const work = (db: Db) => editors.declare(db, apiKey, ref, before, after)
    const write = () => this.#deps.commits.write(new Set([apiKey]), [sender], work, { limits: maxPause })
    if (await retryWhileAllowed(sender, write, () => false)) room.declared = after
  }
}

/** Whether the client declares nothing that differs from the stored declaration. */
const matches = (
  stored: Contents,
  { type = stored.type, contentKey = stored.contentKey }: Partial<Contents>,
) => type === stored.type && contentKey === stored.contentKey
