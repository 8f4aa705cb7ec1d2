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
import { SubjectQueues } from '../../calls/subject-queues.ts'
import { createValidator } from '../../calls/validate.ts'

/** The user of client tokens that are requested without `userId`: one user, because a Yjs client id belongs to one user. */
const anonymousUserId = 'y-sweet-client'

const NewDocument = Type.Object({ docId: Type.Optional(Type.String()) })
const Authorization = Type.Object({
  authorization: Type.Optional(Type.Union([Type.Literal('full'), Type.Literal('read-only')])),
  userId: Type.Optional(ChosenId),
  validForSeconds: Type.Optional(Type.Integer({ minimum: 1 })),
})
const checkNewDocument = createValidator({ input: NewDocument })
const checkAuthorization = createValidator({ input: Authorization })

export interface YSweetDeps {
  services: Services
  log: Log
  /** The editor that a `docId` names. Undefined: the `docId` is invalid, and `docIdPattern` is the message. */
  editorRefOf: (docId: string) => EditorRef | undefined
  docIdPattern: string
  /** Resolves when the update is durable. */
  storeUpdate: (apiKey: string, user: Bearer['user'], ref: EditorRef, update: Uint8Array) => Promise<void>
}

/** The calls of Y-Sweet's SDK. They answer what that SDK expects, without the envelope of the interface. */
export function createYSweetCalls(deps: YSweetDeps) {
  const { services, log } = deps
  const { clock, database, deletions, storedDocuments, userTokens } = services
  const writes = new SubjectQueues()

  const editorRefOf = (docId: string): EditorRef => {
    const ref = deps.editorRefOf(docId)
    if (!ref) throw new ApiError('INVALID_ARGUMENT', deps.docIdPattern)
    return ref
  }

  /** Waits while the document is being deleted, as calls of the interface do. */
  const waitForDeletions = async (key: ApiKey, { organizationId, documentId }: EditorRef) => {
    if (!deletions.mayAffect(key)) return
    const mention = { organizationIds: [organizationId], documentIds: [documentId], folderIds: [] }
    await deletions.waitWhileAffected(key.apiKey, mention)
  }

  const requireDocument = async ({ apiKey }: ApiKey, { organizationId, documentId }: EditorRef) => {
    if (await documents.exists(database.read, apiKey, organizationId, documentId)) return
    throw new ApiError('NOT_FOUND', 'Document not found.')
  }

  return {
    async checkStore() {
      try {
        await database.ping()
        return { ok: true }
      } catch (error) {
        log.error({ err: error }, 'the database does not answer')
        return { ok: false, error: 'The database does not answer.' }
      }
    },

    /** Leaves an existing document unchanged. */
    async newDocument(key: ApiKey, input: unknown) {
      checkNewDocument(input)
      const { docId = newId('doc') } = input as Static<typeof NewDocument>
      const ref = editorRefOf(docId)
      await waitForDeletions(key, ref)
      await ensureDocument(database, key, ref.organizationId, ref.documentId, clock.now())
      return { docId }
    },

    /** `address`: the URL below which clients reach the calls of a document. */
    async authorize(key: ApiKey, docId: string, input: unknown, address: (scheme: 'http' | 'ws') => string) {
      checkAuthorization(input)
      const {
        authorization = 'full',
        userId = anonymousUserId,
        validForSeconds = userTokenSeconds,
      } = input as Static<typeof Authorization>
      refuseBackendUserId(userId)
      const ref = editorRefOf(docId)
      await waitForDeletions(key, ref)
      await requireDocument(key, ref)
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
    },

    async asUpdate({ key, user }: Bearer, docId: string): Promise<Uint8Array> {
      const ref = editorRefOf(docId)
      await waitForDeletions(key, ref)
      const { organizationId, documentId } = ref
      const seconds = Math.floor(clock.now() / 1000)
      const [decision] = await evaluateAccess(database.read, key, organizationId, documentId, [user], seconds)
      if (!decision?.allowed) throw new ApiError('PERMISSION_DENIED', 'The user may not open this document.')
      await requireDocument(key, ref)
      return wholeUpdate(database.read, key.apiKey, ref, { storedDocuments, log })
    },

    async update({ key, user }: Bearer, docId: string, update: Uint8Array): Promise<void> {
      const ref = editorRefOf(docId)
      await writes.take(key.apiKey, docId, update.length, () =>
        deps.storeUpdate(key.apiKey, user, ref, update),
      )
    },
  }
}

export type YSweetCalls = ReturnType<typeof createYSweetCalls>
