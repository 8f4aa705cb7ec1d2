import { ApiError, type Operations, type Permission, type UserPermissions } from '@plenum/protocol'
import { decide, decideOrganization, type Subject, type Verdict } from '../../access/permissions.ts'
import { loadSubjects } from '../../access/subjects.ts'
import type { Handlers } from '../../calls/call.ts'
import * as grants from '../../store/access/grants.ts'
import * as removedGrants from '../../store/access/removed-grants.ts'
import * as userGroups from '../../store/users/user-groups.ts'
import * as users from '../../store/users/users.ts'
import { unique } from '../shared/batches.ts'
import { readGrants, readLevels } from '../shared/permission-resources.ts'
import { explain } from './explain.ts'

export const permissionHandlers: Handlers<Operations['permissions']> = {
  async add({ input, caller: { apiKey }, db, now }) {
    const userId = input.user?.userId ?? input.userId
    if (userId === undefined) throw new ApiError('INVALID_ARGUMENT', 'user.userId is required.')
    const added = readGrants(input.permissions.resources).map((grant) => ({ ...grant, userId }))
    await users.ensure(db, apiKey, [{ userId }], now)
    await grants.putAll(db, apiKey, added, now)
    return null
  },

  async get({ input, caller, db, now, services: { longReads } }) {
    const { organizationId } = input
    const userIds = unique(input.userIds)
    const { pause } = longReads.open(caller.apiKey)
    const subjects = await loadSubjects(db, caller, organizationId, userIds, input, pause)
    if (!subjects) throw new ApiError('NOT_FOUND', 'Organization does not exist')

    const nowSeconds = Math.floor(now / 1000)
    let hasUnknown = false
    const permission = (kind: 'folder' | 'document', subject: Subject | undefined): Permission => {
      hasUnknown ||= subject === undefined
      if (!subject) return { error: `${labels[kind]} does not exist`, errorCode: 'does_not_exist' }
      const decision = decide(subject, nowSeconds)
      return { ...present(kind, decision), accessType: decision.accessType }
    }
    const permissionsOf = (userId: string): UserPermissions => ({
      ...(input.folderIds && {
        folders: byKey(input.folderIds, (id) => permission('folder', subjects.folder(userId, id))),
      }),
      ...(input.documentIds && {
        documents: byKey(input.documentIds, (id) => permission('document', subjects.document(userId, id))),
      }),
      organization: byKey([organizationId], () =>
        present('organization', decideOrganization(subjects.organization(userId), nowSeconds)),
      ),
    })
    const found: [userId: string, permissions: UserPermissions][] = []
    for (const userId of userIds) {
      await pause()
      found.push([userId, permissionsOf(userId)])
    }
    const permissions = Object.fromEntries(found)
    if (hasUnknown && !input.skipResourceExistenceValidation) {
      throw new ApiError('NOT_FOUND', 'Folder or document does not exist', { details: permissions })
    }
    return permissions
  },

  async remove({ input, caller: { apiKey }, db, now }) {
    const userId = input.userId ?? input.user?.userId
    if (userId === undefined) throw new ApiError('INVALID_ARGUMENT', 'userId is required.')
    const levels = readLevels(input.permissions.resources)
    const removed = levels.map((level) => ({ level, userId }))
    await removedGrants.remove(db, apiKey, removed, now)
    // A user who is no longer a member of the organization leaves its groups.
    for (const { type, id } of levels) {
      if (type === 'organization') await userGroups.removeFromAll(db, apiKey, id, [userId])
    }
    return null
  },

  explain,
}

const labels = { folder: 'Folder', document: 'Document' } as const

function present(kind: 'folder' | 'document' | 'organization', verdict: Verdict): Permission {
  if (!verdict.allowed)
    return { error: `User does not have access to ${kind}`, errorCode: 'permission_denied' }
  const { accessRole, expiresAt } = verdict
  return { accessRole, ...(expiresAt !== undefined && { expiresAt }) }
}

const byKey = <T>(ids: readonly string[], value: (id: string) => T): Record<string, T> =>
  Object.fromEntries(ids.map((id) => [id, value(id)]))
