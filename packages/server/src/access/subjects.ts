import type { ApiKey } from '../store/api-keys.ts'
import * as access from '../store/access.ts'
import type { Db } from '../store/db.ts'
import type { Grant, Level, OrganizationSubject, Subject } from './permissions.ts'

/** What `decide` and `decideOrganization` need to know of each user and each resource that was loaded. */
export interface Subjects {
  organization(userId: string): OrganizationSubject
  /** Undefined: there is no such document. */
  document(userId: string, documentId: string): Subject | undefined
  /** Undefined: there is no such folder. */
  folder(userId: string, folderId: string): Subject | undefined
}

/**
 * Reads users against documents and folders of one organization, in four queries for up to 5,000 users.
 * Undefined: there is no such organization.
 */
export async function loadSubjects(
  db: Db,
  { apiKey, options }: Pick<ApiKey, 'apiKey' | 'options'>,
  organizationId: string,
  userIds: readonly string[],
  { documentIds = [], folderIds = [] }: { documentIds?: readonly string[]; folderIds?: readonly string[] },
): Promise<Subjects | undefined> {
  const organization = await access.findOrganization(db, apiKey, organizationId)
  if (!organization) return undefined
  const documents = await access.findDocuments(db, apiKey, organizationId, documentIds)
  const lowest = new Set(folderIds)
  for (const { folderId } of documents.values()) if (folderId !== null) lowest.add(folderId)
  const folders = await access.findFolderChains(db, apiKey, organizationId, [...lowest])
  const stored = await access.findGrants(db, apiKey, organizationId, userIds, {
    documentIds: [...documents.keys()],
    folderIds: [...folders.keys()],
  })
  const grants = new Map(stored.map((grant) => [JSON.stringify([grant.userId, grant.type, grant.id]), grant]))

  const grantOf = (userId: string, type: string, id: string): { grant?: Grant } => {
    const grant = grants.get(JSON.stringify([userId, type, id]))
    return grant ? { grant } : {}
  }

  const organizationSubject = (userId: string): OrganizationSubject => ({
    authenticated: true,
    organization: { disabled: organization.disabled, ...grantOf(userId, 'organization', organizationId) },
  })

  /** From that folder up to the top-level one. */
  const chain = (userId: string, folderId: string | null): Level[] => {
    const passed = new Set<string>()
    const levels: Level[] = []
    for (let id = folderId; id !== null && !passed.has(id);) {
      const folder = folders.get(id)
      if (!folder) break
      passed.add(id)
      levels.push({ accessType: folder.accessType, ...grantOf(userId, 'folder', id) })
      id = folder.parentFolderId
    }
    return levels
  }

  const subject = (userId: string, folderId: string | null): Subject => ({
    ...organizationSubject(userId),
    folders: chain(userId, folderId),
    defaultAccessType: options.defaultDocumentAccessType,
  })

  return {
    organization: organizationSubject,
    document(userId, documentId) {
      const document = documents.get(documentId)
      if (!document) return undefined
      const { folderId, accessType, disabled } = document
      return {
        ...subject(userId, folderId),
        document: { accessType, disabled, ...grantOf(userId, 'document', documentId) },
      }
    },
    folder: (userId, folderId) => (folders.has(folderId) ? subject(userId, folderId) : undefined),
  }
}
