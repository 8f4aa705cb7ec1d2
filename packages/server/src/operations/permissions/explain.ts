import { ApiError, type Assumption, type Input, type Operations } from '@plenum/protocol'
import type { ProviderAnswers } from '../../access/provider/permission-provider.ts'
import type { Question } from '../../access/provider/question.ts'
import { withProvider } from '../../access/provider/with-provider.ts'
import { loadSubjects, type Subjects, type SubjectInTree } from '../../access/subjects.ts'
import type { SimpleHandler } from '../../calls/call.ts'
import * as documents from '../../store/documents/documents.ts'
import { root } from '../../store/documents/folders.ts'
import * as users from '../../store/users/users.ts'
import { doesNotExist } from '../shared/does-not-exist.ts'
import { assumedGrants, assumedSubject, requireLevels } from './assumption.ts'
import { explainDecision } from './explanation.ts'

type Explain = Operations['permissions']['explain']

export const explain: SimpleHandler<Explain> = async ({ input, caller, db, now, services, abandoned }) => {
  requireOneResource(input)
  const { organizationId, userId, documentId, folderId, assume } = input
  const { apiKey } = caller
  const { skipResourceExistenceValidation: createsMissing = false } = input
  const resources = {
    documentIds: documentId === undefined ? [] : [documentId],
    folderIds: [folderId, assume?.folderId].filter((id) => id !== undefined),
    createsMissing,
  }
  const { pause } = services.longReads.open(caller, abandoned)
  const subjects = await loadSubjects(db, caller, organizationId, [userId], resources, pause)
  if (!subjects) throw new ApiError('NOT_FOUND', 'Organization does not exist')

  const explainUnder = (assumption: Assumption, answers: ProviderAnswers | undefined) => {
    const subject = subjectUnder(assumption, subjects, input, now)
    const asked = withProvider(subject, answers, questionOf(input, subjects))
    return explainDecision(asked, { apiKey, organizationId, documentId }, Math.floor(now / 1000))
  }
  const { decided, assumed } = await services.permissionProvider.check(caller, async (answers) => ({
    decided: explainUnder({}, answers),
    assumed: assume && explainUnder(assume, answers),
  }))
  const isStored = async (id: string) =>
    !createsMissing || (await documents.exists(db, apiKey, organizationId, id))
  return {
    userExists: (await users.findProfile(db, apiKey, userId)) !== undefined,
    ...(documentId !== undefined && { documentExists: await isStored(documentId) }),
    now: decided,
    ...(assumed && {
      assumed,
      differs: decided.canRead !== assumed.canRead || decided.canWrite !== assumed.canWrite,
    }),
  }
}

/** What the permission provider is asked about the user and the resource. */
function questionOf(
  { organizationId, userId, documentId, folderId = root }: Input<Explain>,
  subjects: Subjects,
): Question {
  const source = 'setDocuments'
  if (documentId === undefined) return { userId, organizationId, type: 'folder', id: folderId, source }
  const parentFolderId = subjects.folderOf(documentId) ?? null
  return { userId, organizationId, type: 'document', id: documentId, source, parentFolderId }
}

function requireOneResource({ documentId, folderId, assume }: Input<Explain>): void {
  if ((documentId === undefined) === (folderId === undefined))
    throw new ApiError('INVALID_ARGUMENT', 'Provide either documentId or folderId.')
  if (documentId !== undefined) return
  for (const field of ['folderId', 'disabled'] as const)
    if (assume?.[field] !== undefined)
      throw new ApiError('INVALID_ARGUMENT', `assume.${field} needs documentId.`)
}

/** The facts for the decision, as they would be after the assumed changes. */
function subjectUnder(
  assume: Assumption,
  subjects: Subjects,
  { organizationId, userId, documentId, folderId = root }: Input<Explain>,
  now: number,
): SubjectInTree {
  const removedAt = subjects.removedAt(userId)
  const overlay = assumedGrants(assume, { organizationId, removedAt, now })
  const inFolder = (id: string) => subjects.folder(userId, id, overlay)
  const isDocument = documentId !== undefined
  const stored = isDocument ? subjects.document(userId, documentId, overlay) : inFolder(folderId)
  if (!stored) throw new ApiError('NOT_FOUND', `${isDocument ? 'Document' : 'Folder'} does not exist`)
  const atRoot = { folders: [] }
  const place =
    assume.folderId === undefined ? stored : assume.folderId === root ? atRoot : inFolder(assume.folderId)
  if (!place) throw doesNotExist('Folder')
  const subject = assumedSubject({ ...stored, folders: place.folders }, assume, now)
  requireLevels(assume, subject, { organizationId, documentId })
  return subject
}
