import type { Input, Operations } from '@plenum/protocol'
import type { AccessType, UserGrants, Grant, Resource, DocumentLevels } from './oracle.ts'
import * as given from '../given.ts'
import type { TestServer } from '../harness.ts'
import type { Role } from '../clients/raw-client.ts'

/** Folders with their parent, and documents with their folder. */
const folders = { outer: undefined, inner: 'outer', aside: undefined } as const
export const documents = {
  flat: undefined,
  top: 'outer',
  deep: 'inner',
  mate: 'inner',
  other: 'aside',
} as const
export type DocumentId = keyof typeof documents
export const documentIds = Object.keys(documents) as DocumentId[]

/** An access type and the level that defines it. Documents outside that level have the opposite type by default. */
export interface Scene {
  type: AccessType
  definedBy: 'key' | 'folder' | 'subfolder' | 'document'
}

export const scenes: readonly Scene[] = [
  { type: 'restricted', definedBy: 'folder' },
  { type: 'restricted', definedBy: 'subfolder' },
  { type: 'restricted', definedBy: 'document' },
  { type: 'restricted', definedBy: 'key' },
  { type: 'organizationPrivate', definedBy: 'folder' },
  { type: 'organizationPrivate', definedBy: 'document' },
  { type: 'organizationPrivate', definedBy: 'key' },
  { type: 'public', definedBy: 'document' },
  { type: 'public', definedBy: 'key' },
]

const defaultTypeOf = ({ type, definedBy }: Scene): AccessType =>
  definedBy === 'key' ? type : type === 'public' ? 'restricted' : 'public'

function typesOf({ type, definedBy }: Scene): ReadonlyMap<string, AccessType> {
  const levels = {
    key: [],
    folder: ['folder outer', 'folder aside'],
    subfolder: ['folder inner', 'folder aside'],
    document: documentIds.map((id) => `document ${id}`),
  }
  return new Map(levels[definedBy].map((level) => [level, type]))
}

export function levelsOf(scene: Scene, documentId: DocumentId): DocumentLevels {
  const levels = [`document ${documentId}`]
  for (let id: keyof typeof folders | undefined = documents[documentId]; id !== undefined; id = folders[id]) {
    levels.push(`folder ${id}`)
  }
  return { levels: [...levels, 'organization o1'], types: typesOf(scene), defaultType: defaultTypeOf(scene) }
}

/** Creates the same folders in each of these organizations, and the documents with these ids. */
export async function createFoldersAndDocuments(
  { client }: given.Tenant,
  scene: Scene,
  idsByOrganization: Record<string, readonly DocumentId[]>,
): Promise<void> {
  const types = typesOf(scene)
  const typed = (level: string) => (types.has(level) ? { accessType: types.get(level) } : {})
  await client.apiKeyConfig.update({ defaultDocumentAccessType: defaultTypeOf(scene) })
  for (const [organizationId, documentIds] of Object.entries(idsByOrganization)) {
    await client.organizations.add({ organizations: [{ organizationId }] })
    await client.folders.add({
      organizationId,
      folders: Object.entries(folders).map(([folderId, parentFolderId]) => ({
        folderId,
        ...typed(`folder ${folderId}`),
        ...(parentFolderId && { parentFolderId }),
      })),
    })
    for (const documentId of documentIds) {
      const folderId = documents[documentId]
      const added = { documentId, ...typed(`document ${documentId}`) }
      await client.documents.add({ organizationId, documents: [added], ...(folderId && { folderId }) })
    }
  }
}

/** Another API key of the same workspace. */
export async function siblingKey(server: TestServer, tenant: given.Tenant): Promise<given.Tenant> {
  const { data } = await tenant.client.apiKeys.create({ ownerEmail: 'owner@example.com', type: 'testing' })
  return given.keyOf(server, tenant, data.apiKey)
}

/** The resources granted in the matrix: the whole organization, the upper folder, or a document below it. */
export const granted = {
  organization: { type: 'organization', id: 'o1', level: 'organization o1' },
  folder: { type: 'folder', id: 'outer', organizationId: 'o1', level: 'folder outer' },
  document: { type: 'document', id: 'deep', organizationId: 'o1', level: 'document deep' },
} as const

export const sources = ['token', 'permissions', 'users', 'token over stored', 'stored over token'] as const
export type Source = (typeof sources)[number]

const oppositeRole = { viewer: 'editor', editor: 'viewer' } as const

export function grantsOf(source: Source, resource: Resource, grant: Omit<Grant, 'level'>): UserGrants {
  const { level } = granted[resource]
  const main = { level, ...grant }
  const other = { level, role: oppositeRole[grant.role ?? 'editor'] }
  if (source === 'token') return { token: main }
  if (source === 'token over stored') return { token: main, stored: other, newer: 'token' }
  if (source === 'stored over token') return { token: other, stored: main, newer: 'stored' }
  return { stored: main }
}

type Resources = Input<Operations['auth']['generateToken']>['permissions']['resources']

function resourceOf(resource: Resource, { role, expiresAt }: { role?: Role; expiresAt?: number }) {
  const { level: _, ...named } = granted[resource]
  return { ...named, ...(role && { accessRole: role }), ...(expiresAt !== undefined && { expiresAt }) }
}

/** A token of the user, with the grant if one is given. */
export async function tokenWith(
  { client }: given.Tenant,
  userId: string,
  resource: Resource,
  grant: Grant | undefined,
): Promise<string> {
  const resources: Resources = grant ? [resourceOf(resource, grant)] : []
  const { data } = await client.auth.generateToken({
    userId,
    userProperties: { name: userId, email: `${userId}@example.com` },
    permissions: { resources },
  })
  return data.token
}

/** Stores the grant by Add Permissions, or by Add Users, which has no expiry and keeps an existing one. */
export async function store(
  { client }: given.Tenant,
  userId: string,
  resource: Resource,
  { role, expiresAt }: Grant,
  by: 'permissions' | 'users',
): Promise<void> {
  const addPermission = (role?: Role) =>
    client.permissions.add({
      userId,
      permissions: { resources: [resourceOf(resource, { role, expiresAt })] },
    })
  if (by === 'permissions') return void (await addPermission(role))
  if (expiresAt !== undefined) await addPermission()
  await client.users.add({
    organizationId: 'o1',
    ...(resource === 'folder' && { folderId: granted.folder.id }),
    ...(resource === 'document' && { documentId: granted.document.id }),
    users: [{ userId, ...(role && { accessRole: role }) }],
  })
}
