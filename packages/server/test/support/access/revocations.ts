import type { PermissionResource } from '@plenum/protocol'
import type { AccessType } from './oracle.ts'
import * as given from '../given.ts'
import type { TestServer } from '../harness.ts'
import { eventually } from '../clients/convergence.ts'
import { document, folder, grant, organization } from './permission-scenes.ts'

/** A user edits `d1` in the folder `f1` of `o1`. No user may open documents in the folder `vault`. */
export interface Stage {
  server: TestServer
  tenant: given.Tenant
  client: given.Tenant['client']
}

export type Consequence =
  | 'viewer'
  /** The connection or document is closed. */
  | { code: number; reason: string }

/** A change that removes access from a user. */
export interface Revocation {
  cause: string
  token?: PermissionResource[]
  stored?: (now: number) => PermissionResource[]
  types?: { folder?: AccessType; document?: AccessType }
  act: (stage: Stage) => Promise<unknown>
  /** Whether `act` only lets time pass. */
  byTime?: boolean
  effect: Consequence
  /** The id of the document that has the content afterwards; null if there is none. Default: `d1`. */
  leftIn?: string | null
  /** Gives the access back, if that is possible. */
  undo?: (stage: Stage) => Promise<unknown>
}

export const userId = 'ada'
export const minute = 60_000

const d1 = document('d1')
const on = { organizationId: 'o1', documentIds: ['d1'] }
const noGrant = { code: 4403, reason: 'The user may not open this document.' }
const disabled = { code: 4403, reason: 'The document or its organization is disabled.' }
const gone = { code: 4404, reason: 'The document was deleted.' }
const moved = { code: 4404, reason: 'The document was moved to another id.' }

const asViewer = { users: [{ userId, accessRole: 'viewer' as const }] }
const makeEditor = ({ client }: Stage) => grant(client, userId, { ...d1, accessRole: 'editor' })
const remove = (...resources: PermissionResource[]) => ({ userId, permissions: { resources } })
const passTime = async (stage: Stage, ms: number) => void (stage.server.clock.offsetMs += ms)
const noGrants = () => []
const onDocument = () => [d1]
const soon = (now: number) => Math.floor(now / 1000) + 30 * 60

export const revocations: readonly Revocation[] = [
  {
    cause: 'a lesser role by Add Permissions',
    act: ({ client }) => grant(client, userId, { ...d1, accessRole: 'viewer' }),
    effect: 'viewer',
    undo: makeEditor,
  },
  {
    cause: 'a lesser role by Add Users',
    act: ({ client }) => client.users.add({ organizationId: 'o1', documentId: 'd1', ...asViewer }),
    effect: 'viewer',
    undo: makeEditor,
  },
  {
    cause: 'a lesser role by Update Users',
    act: ({ client }) => client.users.update({ organizationId: 'o1', documentId: 'd1', ...asViewer }),
    effect: 'viewer',
    undo: makeEditor,
  },
  {
    cause: 'a lesser role than in the token',
    token: [d1],
    stored: noGrants,
    act: ({ client }) => grant(client, userId, { ...d1, accessRole: 'viewer' }),
    effect: 'viewer',
    undo: makeEditor,
  },
  {
    cause: 'Remove Permissions',
    act: ({ client }) => client.permissions.remove(remove(d1)),
    effect: noGrant,
    undo: makeEditor,
  },
  {
    cause: 'Remove Permissions of a grant in the token',
    token: [d1],
    stored: noGrants,
    act: ({ client }) => client.permissions.remove(remove(d1)),
    effect: noGrant,
    undo: makeEditor,
  },
  {
    cause: 'Remove Permissions of the organization',
    stored: () => [organization],
    types: { document: 'organizationPrivate' },
    act: ({ client }) => client.permissions.remove(remove(organization)),
    effect: noGrant,
    undo: makeEditor,
  },
  {
    cause: 'Delete Users of the document',
    act: ({ client }) => client.users.delete({ organizationId: 'o1', documentId: 'd1', userIds: [userId] }),
    effect: noGrant,
    undo: makeEditor,
  },
  {
    cause: 'Delete Users of the organization',
    stored: () => [organization, d1],
    act: ({ client }) => client.users.delete({ organizationId: 'o1', userIds: [userId] }),
    effect: noGrant,
    undo: makeEditor,
  },
  {
    cause: 'Delete Users of the organization, with grants in the token',
    token: [organization, folder('f1'), d1],
    stored: noGrants,
    act: ({ client }) => client.users.delete({ organizationId: 'o1', userIds: [userId] }),
    effect: noGrant,
    undo: makeEditor,
  },
  {
    cause: 'a disabled document',
    act: ({ client }) => client.documents.updateDisableState({ ...on, disabled: true }),
    effect: disabled,
    undo: ({ client }) => client.documents.updateDisableState({ ...on, disabled: false }),
  },
  {
    cause: 'a disabled organization',
    act: ({ client }) => client.organizations.updateDisableState({ organizationIds: ['o1'], disabled: true }),
    effect: disabled,
    undo: ({ client }) =>
      client.organizations.updateDisableState({ organizationIds: ['o1'], disabled: false }),
  },
  {
    cause: 'Update Document Access',
    stored: () => [organization],
    types: { document: 'organizationPrivate' },
    act: ({ client }) => client.documents.updateAccess({ ...on, accessType: 'restricted' }),
    effect: noGrant,
    undo: ({ client }) => client.documents.updateAccess({ ...on, accessType: 'public' }),
  },
  {
    cause: 'Update Documents',
    stored: noGrants,
    types: { document: 'public' },
    act: ({ client }) =>
      client.documents.update({
        organizationId: 'o1',
        documents: [{ documentId: 'd1', accessType: 'restricted' }],
      }),
    effect: noGrant,
    undo: makeEditor,
  },
  {
    cause: 'Update Folder Access',
    stored: () => [organization],
    types: { folder: 'organizationPrivate' },
    act: ({ client }) =>
      client.folders.updateAccess({ organizationId: 'o1', folderIds: ['f1'], accessType: 'restricted' }),
    effect: noGrant,
    undo: ({ client }) =>
      client.folders.updateAccess({ organizationId: 'o1', folderIds: ['f1'], inheritFromParent: true }),
  },
  {
    cause: 'a document that is moved',
    stored: () => [folder('f1')],
    types: { folder: 'restricted' },
    act: ({ client }) => client.documents.move({ ...on, folderId: 'vault' }),
    effect: noGrant,
    undo: ({ client }) => client.documents.move({ ...on, folderId: 'f1' }),
  },
  {
    cause: 'a folder that is moved',
    stored: () => [organization],
    types: {},
    act: ({ client }) =>
      client.folders.update({
        organizationId: 'o1',
        folders: [{ folderId: 'f1', parentFolderId: 'vault' }],
      }),
    effect: noGrant,
    undo: ({ client }) =>
      client.folders.update({ organizationId: 'o1', folders: [{ folderId: 'f1', parentFolderId: 'root' }] }),
  },
  {
    cause: 'the default access type of the API key',
    stored: noGrants,
    types: {},
    act: ({ client }) => client.apiKeyConfig.update({ defaultDocumentAccessType: 'restricted' }),
    effect: noGrant,
    undo: ({ client }) => client.apiKeyConfig.update({ defaultDocumentAccessType: 'public' }),
  },
  {
    cause: 'a deleted document',
    act: ({ client }) => client.documents.delete(on),
    effect: gone,
    leftIn: null,
  },
  {
    cause: 'a deleted folder',
    act: ({ client }) => client.folders.delete({ organizationId: 'o1', folderId: 'f1' }),
    effect: gone,
    leftIn: null,
  },
  {
    cause: 'a deleted organization',
    act: ({ client }) => client.organizations.delete({ organizationIds: ['o1'] }),
    effect: gone,
    leftIn: null,
  },
  { cause: 'a document that is migrated', act: migrate, effect: moved, leftIn: 'd2' },
  {
    cause: 'a stored grant that ends',
    stored: (now) => [{ ...d1, expiresAt: soon(now) }],
    byTime: true,
    act: (stage) => passTime(stage, 31 * minute),
    effect: noGrant,
    undo: makeEditor,
  },
  {
    cause: 'a grant that ends before a lesser one',
    stored: (now) => [
      { ...d1, accessRole: 'editor', expiresAt: soon(now) },
      { ...folder('f1'), accessRole: 'viewer' },
    ],
    types: { folder: 'restricted' },
    byTime: true,
    act: (stage) => passTime(stage, 31 * minute),
    effect: 'viewer',
    undo: makeEditor,
  },
  {
    cause: 'a token that ends',
    byTime: true,
    act: (stage) => passTime(stage, 48 * 60 * minute),
    effect: { code: 4401, reason: 'token_expired: The token has expired.' },
  },
]

async function migrate({ client }: Stage): Promise<void> {
  const { data } = await client.documents.migrate({
    organizationId: 'o1',
    documentId: 'd1',
    newDocumentId: 'd2',
  })
  const { migrationId } = data
  const status = async () =>
    (await client.documents.migrateStatus({ organizationId: 'o1', migrationId })).data.status
  await eventually(status).toBe('completed')
}

/** Creates a stage with the grants of the revocation. Default: a stored grant on the restricted document. */
export async function stageFor(
  server: TestServer,
  { stored = onDocument, types = { document: 'restricted' }, token = [] }: Revocation,
): Promise<Stage & { token: string }> {
  const tenant = await given.tenant(server)
  const { client } = tenant
  await given.organization(tenant, 'o1')
  await client.folders.add({
    organizationId: 'o1',
    folders: [
      { folderId: 'f1', ...(types.folder && { accessType: types.folder }) },
      { folderId: 'vault', accessType: 'restricted' },
    ],
  })
  await client.documents.add({
    organizationId: 'o1',
    folderId: 'f1',
    documents: [{ documentId: 'd1', ...(types.document && { accessType: types.document }) }],
  })
  const resources = stored(Date.now() + server.clock.offsetMs)
  if (resources.length > 0) await grant(client, userId, ...resources)
  const { data } = await client.auth.generateToken({
    userId,
    userProperties: { name: 'Ada', email: 'ada@example.com' },
    permissions: { resources: token },
  })
  // Later changes must be at least a millisecond newer.
  server.clock.offsetMs += 10
  return { server, tenant, client, token: data.token }
}
