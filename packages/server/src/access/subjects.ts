import type { ApiKey } from '../store/api-keys.ts'
import * as access from '../store/access/access.ts'
import type { StoredDocument } from '../store/access/access.ts'
import { findFolderChains } from '../store/documents/folder-tree.ts'
import type { Db } from '../store/engine/db.ts'
import type { Level as GrantLevel } from '../store/access/grants.ts'
import type { Grant, Level, OrganizationSubject, StoredGrant, Subject } from './permissions.ts'

type Key = Pick<ApiKey, 'apiKey' | 'options'>

/** The input of `decide` and `decideOrganization` for users and resources that were loaded. */
export interface Subjects {
  organization(userId: string): OrganizationSubject
  /** Returns undefined if the document does not exist. Without an overlay, the stored grants apply. */
  document(userId: string, documentId: string, overlay?: Overlay): SubjectInTree | undefined
  /** Returns undefined if the folder does not exist. Without an overlay, the stored grants apply. */
  folder(userId: string, folderId: string, overlay?: Overlay): SubjectInTree | undefined
  /** The folder of the document. Null or undefined: the document is in no folder, or does not exist. */
  folderOf(documentId: string): string | null | undefined
  /** When the user was last removed from the organization and all its contents, in Unix milliseconds. 0: never. */
  removedAt(userId: string): number
}

/** A subject that knows the ids of its folders. */
export interface SubjectInTree extends Subject {
  folders: readonly FolderLevel[]
}

interface FolderLevel extends Level {
  id: string
}

/** Computes the grant of a session on a resource, from the stored grant of the session's user. */
export type Overlay = (
  type: GrantLevel['type'],
  id: string,
  stored: StoredGrant | undefined,
) => Grant | undefined

export interface OpenedDocument {
  /** Null if the document is in no folder. */
  readonly folderId: string | null
  subject(userId: string, overlay: Overlay): Subject
  /** When the user was last removed from the organization and all its contents, in Unix milliseconds. 0: never. */
  removedAt(userId: string): number
}

interface Resources {
  documentIds?: readonly string[]
  folderIds?: readonly string[]
  /** Whether a document or an organization that does not exist is loaded as if a client had just created it. */
  createsMissing?: boolean | undefined
}

/** A document that a client creates by opening it, before anything else is known about it (spec 0.8.1). */
const newDocument: StoredDocument = { folderId: null, accessType: null, disabled: false }
const newOrganization = { disabled: false }

/**
 * Loads the access of users to documents and folders of one organization. Without `pause`, four queries are enough for up
 * to 5,000 users and few folders. With `pause`, each query reads only a few users, and `pause` is called between queries.
 * Returns undefined if the organization does not exist.
 */
export async function loadSubjects(
  db: Db,
  key: Key,
  organizationId: string,
  userIds: readonly string[],
  { documentIds = [], folderIds = [], createsMissing = false }: Resources,
  pause?: () => Promise<void>,
): Promise<Subjects | undefined> {
  const stored = await access.findOrganization(db, key.apiKey, organizationId)
  const organization = stored ?? (createsMissing ? newOrganization : undefined)
  if (!organization) return undefined
  const documents = await access.findDocuments(db, key.apiKey, organizationId, documentIds)
  if (createsMissing) for (const id of documentIds) documents.set(id, documents.get(id) ?? newDocument)
  const scene = await loadScene(db, key, organizationId, userIds, {
    organization,
    documents,
    folderIds,
    pause,
  })
  return {
    organization: (userId) => scene.organization(userId, asStored),
    document(userId, documentId, overlay = asStored) {
      const document = documents.get(documentId)
      return document && scene.document(userId, documentId, document, overlay)
    },
    folder: (userId, folderId, overlay = asStored) =>
      scene.hasFolder(folderId) ? scene.inFolder(userId, folderId, overlay) : undefined,
    folderOf: (documentId) => documents.get(documentId)?.folderId,
    removedAt: (userId) => scene.removedAt(userId),
  }
}

/**
 * Loads the access of users to documents that clients open. If a document or the organization does not exist yet, the result
 * is as if it had just been created. Takes at most 500 documents.
 */
export async function loadOpenedDocuments(
  db: Db,
  key: Key,
  organizationId: string,
  documentIds: readonly string[],
  userIds: readonly string[],
): Promise<(documentId: string) => OpenedDocument> {
  const organization = await access.findOrganization(db, key.apiKey, organizationId)
  const documents = await access.findDocuments(db, key.apiKey, organizationId, documentIds)
  for (const id of documentIds) if (!documents.has(id)) documents.set(id, newDocument)
  const scene = await loadScene(db, key, organizationId, userIds, {
    organization: organization ?? newOrganization,
    documents,
    folderIds: [],
  })
  return (documentId) => {
    const document = documents.get(documentId) as StoredDocument
    return {
      folderId: document.folderId,
      subject: (userId, overlay) => scene.document(userId, documentId, document, overlay),
      removedAt: (userId) => scene.removedAt(userId),
    }
  }
}

/** For callers without a session: only stored grants apply. */
const asStored: Overlay = (_type, _id, stored) => stored

interface Found {
  organization: { disabled: boolean }
  documents: ReadonlyMap<string, StoredDocument>
  /** Folders to load besides those that contain the documents. */
  folderIds: readonly string[]
  pause?: (() => Promise<void>) | undefined
}

type GrantType = access.StoredGrant['type']

/** The stored grants by user, type of the resource and id of the resource. */
type GrantsByUser = Map<string, Map<GrantType, Map<string, access.StoredGrant>>>

/** Loads the folders and grants that apply to the documents and folders. */
async function loadScene(
  db: Db,
  { apiKey, options }: Key,
  organizationId: string,
  userIds: readonly string[],
  { organization, documents, folderIds, pause }: Found,
): Promise<Scene> {
  const lowest = new Set(folderIds)
  for (const { folderId } of documents.values()) if (folderId !== null) lowest.add(folderId)
  const folders = await findFolderChains(db, apiKey, organizationId, [...lowest], pause)
  const resources = { documentIds: [...documents.keys()], folderIds: [...folders.keys()] }
  const grants: GrantsByUser = new Map()
  for (const grant of await access.findGrants(db, apiKey, organizationId, userIds, resources, pause)) {
    const ofUser = grants.get(grant.userId) ?? new Map<GrantType, Map<string, access.StoredGrant>>()
    const ofType = ofUser.get(grant.type) ?? new Map<string, access.StoredGrant>()
    grants.set(grant.userId, ofUser.set(grant.type, ofType.set(grant.id, grant)))
  }
  const { defaultDocumentAccessType: defaultAccessType } = options
  return new Scene({ organizationId, isDisabled: organization.disabled, folders, grants, defaultAccessType })
}

interface SceneData {
  organizationId: string
  /** Whether the organization is disabled. */
  isDisabled: boolean
  folders: Awaited<ReturnType<typeof findFolderChains>>
  grants: GrantsByUser
  defaultAccessType: Subject['defaultAccessType']
}

/** What was loaded about one organization. Builds the input of decisions from it. */
class Scene {
  readonly #data: SceneData
  /** The result of `#chainOf` for each folder. */
  readonly #chains = new Map<string, readonly FolderLevel[]>()

  constructor(data: SceneData) {
    this.#data = data
  }

  hasFolder(folderId: string): boolean {
    return this.#data.folders.has(folderId)
  }

  removedAt(userId: string): number {
    return this.#stored(userId, 'inside', this.#data.organizationId)?.setAt ?? 0
  }

  organization(userId: string, overlay: Overlay): OrganizationSubject {
    const { organizationId, isDisabled } = this.#data
    return {
      authenticated: true,
      organization: {
        disabled: isDisabled,
        ...this.#grantOf(userId, 'organization', organizationId, overlay),
      },
    }
  }

  /** The subject for a folder or, if `folderId` is null, for a document at the root. */
  inFolder(userId: string, folderId: string | null, overlay: Overlay): SubjectInTree {
    return {
      ...this.organization(userId, overlay),
      folders: this.#levels(userId, folderId, overlay),
      defaultAccessType: this.#data.defaultAccessType,
    }
  }

  document(userId: string, documentId: string, document: StoredDocument, overlay: Overlay): SubjectInTree {
    return {
      ...this.inFolder(userId, document.folderId, overlay),
      document: {
        accessType: document.accessType,
        disabled: document.disabled,
        ...this.#grantOf(userId, 'document', documentId, overlay),
      },
    }
  }

  #grantOf(userId: string, type: GrantLevel['type'], id: string, overlay: Overlay): { grant?: Grant } {
    const grant = overlay(type, id, this.#stored(userId, type, id))
    return grant ? { grant } : {}
  }

  #stored(userId: string, type: GrantType, id: string): access.StoredGrant | undefined {
    return this.#data.grants.get(userId)?.get(type)?.get(id)
  }

  /** The folder and its ancestors with the grants of the user, nearest first. */
  #levels(userId: string, folderId: string | null, overlay: Overlay): FolderLevel[] {
    if (folderId === null) return []
    const ofUser = this.#data.grants.get(userId)?.get('folder')
    return this.#chainOf(folderId).map((level) => {
      const grant = overlay('folder', level.id, ofUser?.get(level.id))
      return grant ? { ...level, grant } : level
    })
  }

  /** The folder and its ancestors without grants, nearest first. Computed once for all users and documents. */
  #chainOf(folderId: string): readonly FolderLevel[] {
    const known = this.#chains.get(folderId)
    if (known) return known
    const levels = new Map<string, FolderLevel>()
    for (let id = folderId; !levels.has(id);) {
      const folder = this.#data.folders.get(id)
      if (!folder) break
      levels.set(id, { id, accessType: folder.accessType })
      id = folder.parentFolderId
    }
    const chain = [...levels.values()]
    this.#chains.set(folderId, chain)
    return chain
  }
}
