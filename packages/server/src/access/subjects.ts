import type { ApiKey } from '../store/api-keys.ts'
import * as access from '../store/access/access.ts'
import type { StoredDocument } from '../store/access/access.ts'
import { findFolderChains } from '../store/documents/folder-tree.ts'
import type { Db } from '../store/engine/db.ts'
import type { Level as GrantLevel } from '../store/access/grants.ts'
import type { Grant, Level, OrganizationSubject, StoredGrant, Subject } from './permissions.ts'

type Key = Pick<ApiKey, 'apiKey' | 'options'>

/** The input of `decide` and `decideOrganization`, for each loaded user and resource. */
export interface Subjects {
  organization(userId: string): OrganizationSubject
  /** Undefined: the document does not exist. */
  document(userId: string, documentId: string): Subject | undefined
  /** Undefined: the folder does not exist. */
  folder(userId: string, folderId: string): Subject | undefined
}

/** The grant of one session on a resource, computed from the stored grant of its user. */
export type Overlay = (
  type: GrantLevel['type'],
  id: string,
  stored: StoredGrant | undefined,
) => Grant | undefined

export interface OpenedDocument {
  subject(userId: string, overlay: Overlay): Subject
  /** When the user was last removed from the organization and everything inside, in epoch milliseconds. 0: never. */
  removedAt(userId: string): number
}

/**
 * Loads users with documents and folders of one organization, in four queries for up to 5,000 users and few resources.
 * With more it calls `pause` between queries. Undefined: the organization does not exist.
 */
export async function loadSubjects(
  db: Db,
  key: Key,
  organizationId: string,
  userIds: readonly string[],
  { documentIds = [], folderIds = [] }: { documentIds?: readonly string[]; folderIds?: readonly string[] },
  pause?: () => Promise<void>,
): Promise<Subjects | undefined> {
  const organization = await access.findOrganization(db, key.apiKey, organizationId)
  if (!organization) return undefined
  const documents = await access.findDocuments(db, key.apiKey, organizationId, documentIds)
  const scene = await loadScene(db, key, organizationId, userIds, {
    organization,
    documents,
    folderIds,
    pause,
  })
  return {
    organization: (userId) => scene.organization(userId, asStored),
    document(userId, documentId) {
      const document = documents.get(documentId)
      return document && scene.document(userId, documentId, document, asStored)
    },
    folder: (userId, folderId) =>
      scene.folders.has(folderId) ? scene.inFolder(userId, folderId, asStored) : undefined,
  }
}

/** Loads a document that a client opens. If it or its organization does not exist yet, access is decided as if it were already created. */
export async function loadOpenedDocument(
  db: Db,
  key: Key,
  organizationId: string,
  documentId: string,
  userIds: readonly string[],
): Promise<OpenedDocument> {
  const organization = await access.findOrganization(db, key.apiKey, organizationId)
  const documents = await access.findDocuments(db, key.apiKey, organizationId, [documentId])
  const document = documents.get(documentId) ?? { folderId: null, accessType: null, disabled: false }
  const scene = await loadScene(db, key, organizationId, userIds, {
    organization: organization ?? { disabled: false },
    documents: new Map([[documentId, document]]),
    folderIds: [],
  })
  return {
    subject: (userId, overlay) => scene.document(userId, documentId, document, overlay),
    removedAt: (userId) => scene.stored(userId, 'inside', organizationId)?.setAt ?? 0,
  }
}

const asStored: Overlay = (_type, _id, stored) => stored

interface Found {
  organization: { disabled: boolean }
  documents: ReadonlyMap<string, StoredDocument>
  /** Folders to load besides those of the documents. */
  folderIds: readonly string[]
  pause?: (() => Promise<void>) | undefined
}

interface FolderLevel {
  id: string
  /** Without a grant. */
  level: Level
}

/** Loads the folders and grants that apply to the documents and folders. */
async function loadScene(
  db: Db,
  { apiKey, options }: Key,
  organizationId: string,
  userIds: readonly string[],
  { organization, documents, folderIds, pause }: Found,
) {
  const lowest = new Set(folderIds)
  for (const { folderId } of documents.values()) if (folderId !== null) lowest.add(folderId)
  const folders = await findFolderChains(db, apiKey, organizationId, [...lowest], pause)
  const resources = { documentIds: [...documents.keys()], folderIds: [...folders.keys()] }
  const grants = new Map<string, Map<access.StoredGrant['type'], Map<string, access.StoredGrant>>>()
  for (const grant of await access.findGrants(db, apiKey, organizationId, userIds, resources, pause)) {
    const ofUser =
      grants.get(grant.userId) ?? new Map<access.StoredGrant['type'], Map<string, access.StoredGrant>>()
    const ofType = ofUser.get(grant.type) ?? new Map<string, access.StoredGrant>()
    grants.set(grant.userId, ofUser.set(grant.type, ofType.set(grant.id, grant)))
  }
  const stored = (userId: string, type: access.StoredGrant['type'], id: string) =>
    grants.get(userId)?.get(type)?.get(id)

  const grantOf = (
    userId: string,
    type: GrantLevel['type'],
    id: string,
    overlay: Overlay,
  ): { grant?: Grant } => {
    const grant = overlay(type, id, stored(userId, type, id))
    return grant ? { grant } : {}
  }

  const organizationSubject = (userId: string, overlay: Overlay): OrganizationSubject => ({
    authenticated: true,
    organization: {
      disabled: organization.disabled,
      ...grantOf(userId, 'organization', organizationId, overlay),
    },
  })

  const chains = new Map<string, readonly FolderLevel[]>()
  /** The folder and its ancestors, nearest first. Computed once for all users and documents. */
  const chainOf = (folderId: string): readonly FolderLevel[] => {
    const known = chains.get(folderId)
    if (known) return known
    const levels = new Map<string, FolderLevel>()
    for (let id = folderId; !levels.has(id);) {
      const folder = folders.get(id)
      if (!folder) break
      levels.set(id, { id, level: { accessType: folder.accessType } })
      id = folder.parentFolderId
    }
    const chain = [...levels.values()]
    chains.set(folderId, chain)
    return chain
  }

  const chain = (userId: string, folderId: string | null, overlay: Overlay): Level[] => {
    if (folderId === null) return []
    const ofUser = grants.get(userId)?.get('folder')
    return chainOf(folderId).map(({ id, level }) => {
      const grant = overlay('folder', id, ofUser?.get(id))
      return grant ? { ...level, grant } : level
    })
  }

  const inFolder = (userId: string, folderId: string | null, overlay: Overlay): Subject => ({
    ...organizationSubject(userId, overlay),
    folders: chain(userId, folderId, overlay),
    defaultAccessType: options.defaultDocumentAccessType,
  })

  return {
    folders,
    stored,
    organization: organizationSubject,
    inFolder,
    document: (userId: string, documentId: string, document: StoredDocument, overlay: Overlay): Subject => ({
      ...inFolder(userId, document.folderId, overlay),
      document: {
        accessType: document.accessType,
        disabled: document.disabled,
        ...grantOf(userId, 'document', documentId, overlay),
      },
    }),
  }
}
