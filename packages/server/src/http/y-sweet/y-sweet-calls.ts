import { ApiError, ChosenId } from '@plenum/protocol'
import { type Static, Type } from 'typebox'
import { refuseBackendUserId } from '../../access/backend-users.ts'
import { newId } from '../../access/ids.ts'
import { evaluateAccess } from '../../access/sessions/session-access.ts'
import { ensureDocument } from '../../access/sessions/sign-in.ts'
import { userTokenSeconds } from '../../access/tokens/token-claims.ts'
import type { Services } from '../../calls/services.ts'
import { wholeUpdate } from '../../operations/shared/stored-editors.ts'
import type { Log } from '../../platform/log/log.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import * as documents from '../../store/documents/documents.ts'
import type { EditorRef } from '../../store/refs.ts'
import type { Bearer } from './bearer.ts'
import { SubjectQueues } from '../../calls/limits/subject-queues.ts'
import { createInputCheck } from '../../calls/input/validate.ts'

/** The user of all client tokens that are requested without `userId`. One user, because a Yjs client id belongs to one user. */
const anonymousUserId = 'y-sweet-client'

const NewDocument = Type.Object({ docId: Type.Optional(Type.String()) })
const Authorization = Type.Object({
  authorization: Type.Optional(Type.Union([Type.Literal('full'), Type.Literal('read-only')])),
  userId: Type.Optional(ChosenId),
  validForSeconds: Type.Optional(Type.Integer({ minimum: 1 })),
})
const checkNewDocument = createInputCheck(NewDocument)
const checkAuthorization = createInputCheck(Authorization)

export interface YSweetDeps {
  services: Services
  log: Log
  /** Returns the editor that a `docId` names, or undefined if the `docId` is invalid. `docIdPattern` is the message then. */
  editorRefOf: (docId: string) => EditorRef | undefined
  docIdPattern: string
  /** Stores a Yjs update of an editor. Resolves when it is durable. */
  storeUpdate: (apiKey: string, user: Bearer['user'], ref: EditorRef, update: Uint8Array) => Promise<void>
}

/** The calls of Y-Sweet's SDK. They answer what that SDK expects, which is not the form of the interface. */
export class YSweetCalls {
  readonly #deps: YSweetDeps
  readonly #writes = new SubjectQueues()

  constructor(deps: YSweetDeps) {
    this.#deps = deps
  }

  async checkStore() {
    const { services, log } = this.#deps
    try {
      await services.database.ping()
      return { ok: true }
    } catch (error) {
      log.error({ err: error }, 'the database does not answer')
      return { ok: false, error: 'The database does not answer.' }
    }
  }

  /** Leaves an existing document unchanged. */
  async newDocument(key: ApiKey, input: unknown) {
    const { database, clock, signals } = this.#deps.services
    checkNewDocument(input)
    const { docId = newId('doc') } = input as Static<typeof NewDocument>
    const ref = this.#editorRefOf(docId)
    await this.#waitForDeletions(key, ref)
    const { organizationId, documentId } = ref
    const { apiKey } = key
    const messages = [{ kind: 'documents' as const, apiKey, organizationId, documentIds: [documentId] }]
    await ensureDocument(database, key, organizationId, documentId, clock.now(), undefined, {
      store: (db) => signals.store(db, messages),
      publish: () => signals.publish(messages),
    })
    return { docId }
  }

  /** `address`: the URL below which clients reach the calls of a document. */
  async authorize(key: ApiKey, docId: string, input: unknown, address: (scheme: 'http' | 'ws') => string) {
    const { userTokens, clock } = this.#deps.services
    checkAuthorization(input)
    const {
      authorization = 'full',
      userId = anonymousUserId,
      validForSeconds = userTokenSeconds,
    } = input as Static<typeof Authorization>
    refuseBackendUserId(userId)
    const ref = this.#editorRefOf(docId)
    await this.#waitForDeletions(key, ref)
    await this.#requireDocument(key, ref)
    const { organizationId, documentId: id } = ref
    const accessRole = authorization === 'full' ? 'editor' : 'viewer'
    const token = await userTokens.sign(
      {
        apiKey: key.apiKey,
        userId,
        userProperties: { isAdmin: false },
        permissions: { resources: [{ type: 'document', id, organizationId, accessRole }], limited: true },
        validForSeconds,
      },
      clock.now(),
    )
    return {
      url: `${address('ws')}/${docId}/ws`,
      baseUrl: `${address('http')}/${docId}`,
      docId,
      token,
      authorization,
      validForSeconds: Math.min(validForSeconds, userTokenSeconds),
    }
  }

  async asUpdate({ key, user }: Bearer, docId: string): Promise<Uint8Array> {
    const { services, log } = this.#deps
    const { database, clock, storedDocuments, permissionProvider } = services
    const ref = this.#editorRefOf(docId)
    await this.#waitForDeletions(key, ref)
    const { organizationId, documentId } = ref
    const seconds = Math.floor(clock.now() / 1000)
    const [decision] = await permissionProvider.check(key, (answers) =>
      evaluateAccess(database.read, key, organizationId, documentId, [user], seconds, answers),
    )
    if (!decision?.allowed) throw new ApiError('PERMISSION_DENIED', 'The user may not open this document.')
    await this.#requireDocument(key, ref)
    return wholeUpdate(database.read, key.apiKey, ref, { storedDocuments, log })
  }

  /** Resolves when the update is durable. */
  async update({ key, user }: Bearer, docId: string, update: Uint8Array): Promise<void> {
    const { storeUpdate } = this.#deps
    const ref = this.#editorRefOf(docId)
    const run = () => storeUpdate(key.apiKey, user, ref, update)
    await this.#writes.run(key.apiKey, docId, { item: undefined, bytes: update.length, run })
  }

  #editorRefOf(docId: string): EditorRef {
    const { editorRefOf, docIdPattern } = this.#deps
    const ref = editorRefOf(docId)
    if (!ref) throw new ApiError('INVALID_ARGUMENT', docIdPattern)
    return ref
  }

  /** Waits while the document is being deleted, as the operations do. */
  async #waitForDeletions(key: ApiKey, { organizationId, documentId }: EditorRef): Promise<void> {
    const { deletions } = this.#deps.services
    if (!deletions.mayAffect(key)) return
    const named = { organizationIds: [organizationId], documentIds: [documentId], folderIds: [] }
    await deletions.waitWhileAffected(key.apiKey, named)
  }

  async #requireDocument({ apiKey }: ApiKey, { organizationId, documentId }: EditorRef): Promise<void> {
    const { database } = this.#deps.services
    if (await documents.exists(database.read, apiKey, organizationId, documentId)) return
    throw new ApiError('NOT_FOUND', 'Document not found.')
  }
}
