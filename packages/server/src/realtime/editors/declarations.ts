import type { ErrorStatus } from '@plenum/protocol'
import { sourceOf } from '../../crdt/document-threads.ts'
import { UnfitContent } from '../../crdt/content/errors.ts'
import type { StoredDocuments } from '../../crdt/stored-documents.ts'
import type { Gate } from '../../platform/turns/gate.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import * as editors from '../../store/editors/editors.ts'
import type { Contents } from '../../store/editors/editors.ts'
import { type Commits, whileAllowed } from '../authorization/commits.ts'
import type { EditorRoom } from '../rooms/room.ts'
import type { Participant } from '../documents/participant.ts'

/** What a client declares that an editor holds. */
export interface Declaration {
  type: NonNullable<Contents['type']> | undefined
  contentKey: string | undefined
}

export interface Refusal {
  status: ErrorStatus
  message: string
}

export interface DeclarationParts {
  database: Database
  storedDocuments: Pick<StoredDocuments, 'declare'>
  commits: Commits
  gate: Gate
  log: Log
}

/**
 * What clients declare that editors hold. A later declaration takes the place of an earlier one whose root is empty.
 * Only a document shows that, so it is built in a thread if the declarations differ.
 */
export class Declarations {
  readonly #parts: DeclarationParts
  /** Checks in progress. Clients that open an editor together, with the same declaration, share one. */
  readonly #checks = new Map<string, Promise<string>>()

  constructor(parts: DeclarationParts) {
    this.#parts = parts
  }

  /** Resolves with the reason if the declaration is refused. The participant must be allowed to write. */
  async declare(
    room: EditorRoom,
    declaration: Declaration,
    sender: Participant,
  ): Promise<Refusal | undefined> {
    if (!room.exists) {
      const { type = null, contentKey = null } = declaration
      room.declared = { type, contentKey }
      return undefined
    }
    if (says(room.declared, declaration)) return undefined
    try {
      await this.#replace(room, declaration, sender)
      return undefined
    } catch (error) {
      if (error instanceof UnfitContent) return { status: 'INVALID_ARGUMENT', message: error.message }
      this.#parts.log.error({ err: error, ...room.place }, 'a declaration of an editor was not stored')
      return { status: 'UNAVAILABLE', message: 'The type and content key could not be stored.' }
    }
  }

  async #replace(room: EditorRoom, declaration: Declaration, sender: Participant): Promise<void> {
    const { apiKey, place } = room
    const { database, gate } = this.#parts
    const find = () => editors.findDeclared(database.read, apiKey, place)
    const declared = await gate.pass(apiKey, find, sender.identity.userId)
    if (!declared || says(declared, declaration)) return
    const contentKey = await this.#check(room, declared, declaration)
    const type = declaration.type ?? (contentKey === declared.contentKey ? declared.type : null)
    if (await this.#store(room, declared, { type, contentKey }, sender)) room.declared = { type, contentKey }
  }

  #check(room: EditorRoom, declared: Contents, { type, contentKey }: Declaration): Promise<string> {
    const { apiKey, place, createdAt, log } = room
    const source = sourceOf(apiKey, place, { createdAt, seq: log.seq })
    const id = JSON.stringify([source, type, contentKey])
    const running = this.#checks.get(id)
    if (running) return running
    const sent = { type, contentKey }
    const check = this.#parts.storedDocuments
      .declare(source, log.parts, declared, sent)
      .finally(() => this.#checks.delete(id))
    this.#checks.set(id, check)
    return check
  }

  /** False if another declaration came first, or if the sender may not write any more. */
  #store(
    { apiKey, place }: EditorRoom,
    before: editors.Declared,
    after: Contents,
    sender: Participant,
  ): Promise<boolean> {
    const work = (db: Db) => editors.declare(db, apiKey, place, before, after)
    const write = () => this.#parts.commits.write(new Set([apiKey]), [sender], work)
    return whileAllowed(sender, write, () => false)
  }
}

/** Whether the stored declaration says the same, as far as the client declares anything. */
const says = (stored: Contents, { type = stored.type, contentKey = stored.contentKey }: Partial<Contents>) =>
  type === stored.type && contentKey === stored.contentKey
