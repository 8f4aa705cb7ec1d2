import { ApiError, type Operations, type Permission, type UserPermissions } from '@plenum/protocol'
import { decide, decideOrganization, isLive, type Subject, type Verdict } from '../../access/permissions.ts'
import type { ProviderAnswers } from '../../access/provider/permission-provider.ts'
import type { Question } from '../../access/provider/question.ts'
import { withProvider } from '../../access/provider/with-provider.ts'
import { loadSubjects, type Subjects } from '../../access/subjects.ts'
import type { Handlers } from '../../calls/call.ts'
import * as memberships from '../../store/access/memberships.ts'
import type { Db } from '../../store/engine/db.ts'
import * as grants from '../../store/access/grants.ts'
import * as removedGrants from '../../store/access/removed-grants.ts'
import * as userGroups from '../../store/users/user-groups.ts'
import * as users from '../../store/users/users.ts'
import { unique } from '../shared/batches.ts'
import { readGrants, readLevels, type ResourceGrant } from '../shared/permission-resources.ts'
import { explain } from './explain.ts'

export const permissionHandlers: Handlers<Operations['permissions']> = {
  async add({ input, caller: { apiKey }, db, now, signal }) {
    const userId = input.user?.userId ?? input.userId
    if (userId === undefined) throw new ApiError('INVALID_ARGUMENT', 'user.userId is required.')
    const added = readGrants(input.permissions.resources).map((grant) => ({ ...grant, userId }))
    await users.ensure(db, apiKey, [{ userId }], now)
    await grants.putAll(db, apiKey, added, now)
    await limitAccessFields(db, apiKey, userId, added, now)
    signal(
      peopleIn(
        added.map(({ level }) => level.organizationId),
        userId,
      ),
    )
    return null
  },

  async get({ input, caller, db, abandoned, services: { longReads, permissionProvider, clock } }) {
    const { organizationId } = input
    const userIds = unique(input.userIds)
    const { pause } = longReads.open(caller, abandoned)
    const { permissions, hasUnknown } = await permissionProvider.check(caller, async (answers) => {
      const subjects = await loadSubjects(db, caller, organizationId, userIds, input, pause)
      if (!subjects) throw new ApiError('NOT_FOUND', 'Organization does not exist')
      const reader = new PermissionReader(subjects, answers, organizationId, Math.floor(clock.now() / 1000))
      const found: [userId: string, permissions: UserPermissions][] = []
      for (const userId of userIds) {
        await pause()
        const context = await findContext(db, caller.apiKey, userId, organizationId, clock.now())
        found.push([userId, { ...reader.permissionsOf(userId, input), ...context }])
      }
      return { permissions: Object.fromEntries(found), hasUnknown: reader.hasUnknown }
    })
    if (hasUnknown && !input.skipResourceExistenceValidation) {
      throw new ApiError('NOT_FOUND', 'Folder or document does not exist', { details: permissions })
    }
    return permissions
  },

  async remove({ input, caller: { apiKey }, db, now, signal }) {
    const userId = input.userId ?? input.user?.userId
    if (userId === undefined) throw new ApiError('INVALID_ARGUMENT', 'userId is required.')
    const levels = readLevels(input.permissions.resources)
    const removed = levels.map((level) => ({ level, userId }))
    await removedGrants.remove(db, apiKey, removed, now)
    signal(
      peopleIn(
        levels.map(({ organizationId }) => organizationId),
        userId,
      ),
    )
    // A user who is no longer a member of the organization leaves its groups.
    for (const { type, id } of levels) {
      if (type === 'organization') await userGroups.removeFromAll(db, apiKey, id, [userId])
    }
    return null
  },

  explain,
}

const peopleIn = (organizationIds: readonly string[], userId: string) =>
  ({ kind: 'people', organizationIds: unique(organizationIds), userIds: [userId] }) as const

/** The fields of the access context that the user holds. */
async function findContext(
  db: Db,
  apiKey: string,
  userId: string,
  organizationId: string,
  now: number,
): Promise<Pick<UserPermissions, 'context'>> {
  const held = await memberships.findAccessFields(db, apiKey, userId, organizationId)
  const accessFields = held.filter((grant) => isLive(grant, now / 1000)).map(({ id }) => id)
  return accessFields.length > 0 ? { context: { accessFields } } : {}
}

/** A user who holds very many fields would make every check of an access context slow (spec 0.7). */
const maxAccessFields = 200

async function limitAccessFields(
  db: Db,
  apiKey: string,
  userId: string,
  added: readonly ResourceGrant[],
  now: number,
): Promise<void> {
  const fields = added.filter(({ level }) => level.type === 'context')
  for (const organizationId of unique(fields.map(({ level }) => level.organizationId))) {
    const held = await memberships.findAccessFields(db, apiKey, userId, organizationId)
    if (held.filter((grant) => isLive(grant, now / 1000)).length <= maxAccessFields) continue
    const message = `A user can hold at most ${maxAccessFields} fields of the access context in an organization.`
    throw new ApiError('INVALID_ARGUMENT', message)
  }
}

/** Decides what users may do, and presents it as Get Permissions answers. */
class PermissionReader {
  /** Whether a folder or document does not exist. */
  hasUnknown = false
  readonly #subjects: Subjects
  readonly #answers: ProviderAnswers | undefined
  readonly #organizationId: string
  readonly #nowSeconds: number

  constructor(
    subjects: Subjects,
    answers: ProviderAnswers | undefined,
    organizationId: string,
    nowSeconds: number,
  ) {
    this.#subjects = subjects
    this.#answers = answers
    this.#organizationId = organizationId
    this.#nowSeconds = nowSeconds
  }

  permissionsOf(
    userId: string,
    { folderIds, documentIds }: { folderIds?: readonly string[]; documentIds?: readonly string[] },
  ): UserPermissions {
    const subjects = this.#subjects
    return {
      ...(folderIds && {
        folders: byKey(folderIds, (id) =>
          this.#permission(subjects.folder(userId, id), { userId, type: 'folder', id }),
        ),
      }),
      ...(documentIds && {
        documents: byKey(documentIds, (id) => {
          const parentFolderId = subjects.folderOf(id)
          return this.#permission(subjects.document(userId, id), {
            userId,
            type: 'document',
            id,
            ...(parentFolderId != null && { parentFolderId }),
          })
        }),
      }),
      organization: byKey([this.#organizationId], (id) => {
        const question = this.#question({ userId, type: 'organization', id })
        const subject = withProvider(subjects.organization(userId), this.#answers, question)
        return present('organization', decideOrganization(subject, this.#nowSeconds))
      }),
    }
  }

  #permission(subject: Subject | undefined, about: About & { type: keyof typeof labels }): Permission {
    const { type } = about
    this.hasUnknown ||= subject === undefined
    if (!subject) return { error: `${labels[type]} does not exist`, errorCode: 'does_not_exist' }
    const decision = decide(withProvider(subject, this.#answers, this.#question(about)), this.#nowSeconds)
    return { ...present(type, decision), accessType: decision.accessType }
  }

  #question(about: About): Question {
    const source = about.type === 'organization' ? 'identify' : 'setDocuments'
    return { ...about, organizationId: this.#organizationId, source }
  }
}

/** The user and the resource of a question. */
type About = Omit<Question, 'organizationId' | 'source'>

const labels = { folder: 'Folder', document: 'Document' } as const

function present(kind: 'folder' | 'document' | 'organization', verdict: Verdict): Permission {
  if (!verdict.allowed)
    return { error: `User does not have access to ${kind}`, errorCode: 'permission_denied' }
  const { accessRole, expiresAt } = verdict
  return { accessRole, ...(expiresAt !== undefined && { expiresAt }) }
}

const byKey = <T>(ids: readonly string[], value: (id: string) => T): Record<string, T> =>
  Object.fromEntries(ids.map((id) => [id, value(id)]))
