import { ApiError } from '@plenum/protocol'
import type { Call } from '../../calls/call.ts'
import type { Db } from '../../store/engine/db.ts'
import * as documents from '../../store/documents/documents.ts'
import * as folders from '../../store/documents/folders.ts'
import { type Level, organizationLevel } from '../../store/access/grants.ts'
import * as organizations from '../../store/organizations.ts'
import { doesNotExist } from './does-not-exist.ts'

/** Creates the document and its organization if they do not exist (spec 0.8), and tells open lists. */
export async function ensureDocument(
  { db, now, caller, signal }: Pick<Call, 'db' | 'now' | 'signal'> & { caller: { apiKey: string } },
  { organizationId, documentId }: { organizationId: string; documentId: string },
): Promise<void> {
  if (await documents.ensure(db, caller.apiKey, organizationId, documentId, now))
    signal({ kind: 'documents', organizationId, documentIds: [documentId] })
}

export interface LevelInput {
  organizationId: string
  documentId?: string
  folderId?: string
}

/** The level that the call names: the document, else the folder, else the organization (spec 12). */
export function levelOf({ organizationId, documentId, folderId }: LevelInput): Level {
  if (documentId !== undefined && folderId !== undefined) {
    throw new ApiError('INVALID_ARGUMENT', 'Provide either documentId or folderId.')
  }
  if (documentId !== undefined) return { organizationId, type: 'document', id: documentId }
  if (folderId !== undefined) return { organizationId, type: 'folder', id: folderId }
  return organizationLevel(organizationId)
}

/** Which levels the call may create (spec 0.8). */
export type Creatable = Readonly<Partial<Record<Level['type'], boolean>>>

/** Makes sure that the level exists: creates it if allowed, otherwise throws. `signal` tells open lists of a new document. */
export async function requireLevel(
  db: Db,
  apiKey: string,
  level: Level,
  create: Creatable,
  now: number,
  signal?: Call['signal'],
) {
  const { organizationId, type, id } = level
  if (create.organization) await organizations.ensure(db, apiKey, organizationId, now)
  else if (!(await organizations.exists(db, apiKey, organizationId))) throw doesNotExist('Organization')

  if (type === 'document' && !(await documents.exists(db, apiKey, organizationId, id))) {
    if (!create.document) throw doesNotExist('Document')
    await documents.ensure(db, apiKey, organizationId, id, now)
    signal?.({ kind: 'documents', organizationId, documentIds: [id] })
  }
  if (type === 'folder' && !(await folders.exists(db, apiKey, organizationId, id))) {
    if (!create.folder || id === folders.root) throw doesNotExist('Folder')
    await folders.ensureAtTop(db, apiKey, organizationId, id, now)
  }
}
