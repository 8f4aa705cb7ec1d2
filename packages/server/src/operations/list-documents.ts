import type { ListedDocument, Operations } from '@plenum/protocol'
import type { Decision } from '../access/permissions.ts'
import type { ProviderAnswers } from '../access/provider/permission-provider.ts'
import { evaluateDocuments, type UserSession } from '../access/sessions/session-access.ts'
import { type Reply, reply } from '../calls/answers/reply.ts'
import type { Call, SimpleHandler } from '../calls/call.ts'
import type { LongRead } from '../platform/turns/long-reads.ts'
import { listKeys } from '../store/documents/document-keys.ts'
import * as documents from '../store/documents/documents.ts'
import type { Cursor } from '../store/engine/db.ts'
import { unique } from './shared/batches.ts'
import { actingUserId } from './shared/calling-user.ts'

type List = Operations['documents']['list']

const defaultPageSize = 50
/** Documents that one step reads and decides about. */
const documentsPerStep = 200
/** A page that has found too little ends after this many steps: 2,000 documents. */
const maxSteps = 10

/**
 * Lists what a user can open. Nothing is stored about that: each document is decided as when the user opens it. A step holds a
 * place for rows only while it runs, so users with access to few of very many documents do not hold up others.
 */
export const listDocuments: SimpleHandler<List> = async (call) => {
  const { input, caller, pages, services, abandoned } = call
  const userId = actingUserId(caller.user, input.userId)
  const session = caller.user?.session ?? { userId, resources: [] }
  const { size, after } = pages.requested({ ...input }, defaultPageSize)
  const ids = input.documentIds && unique(input.documentIds)
  const reading = services.longReads.open(caller, abandoned)
  try {
    const found: ListedDocument[] = []
    let next = after
    for (let step = 0; step < maxSteps && found.length < size; step++) {
      const { shown, last } = await inPlace(reading, () =>
        readStep(call, session, reading, { after: next, ids, room: size - found.length }),
      )
      found.push(...shown)
      next = last
      if (!next) break
    }
    return pageOf(found, next, pages)
  } finally {
    reading.close()
  }
}

const pageOf = (
  found: ListedDocument[],
  next: Cursor | undefined,
  pages: Call['pages'],
): Reply<ListedDocument[]> => reply(found, { extra: { nextPageToken: next && pages.tokenAfter(next) } })

async function inPlace<T>(reading: LongRead, step: () => Promise<T>): Promise<T> {
  await reading.enter()
  try {
    return await step()
  } finally {
    reading.leave()
  }
}

interface Wanted {
  after: Cursor | undefined
  ids: readonly string[] | undefined
  /** How many documents the page has room for. */
  room: number
}

/** Reads the next documents. `last`: the list goes on behind it. */
async function readStep(
  { db, caller, now, input: { organizationId }, services: { permissionProvider } }: Call<List>,
  session: UserSession,
  reading: LongRead,
  { after, ids, room }: Wanted,
): Promise<{ shown: ListedDocument[]; last: Cursor | undefined }> {
  const { apiKey } = caller
  const limit = documentsPerStep
  const rows = ids
    ? (await documents.findMany(db, apiKey, organizationId, ids)).filter(isBehind(after)).toReversed()
    : await reading.query(() => listKeys(db, apiKey, organizationId, { after, limit }))
  if (rows.length === 0) return { shown: [], last: undefined }
  const documentIds = rows.map(({ documentId }) => documentId)
  const decide = async (answers: ProviderAnswers | undefined) => {
    const access = await evaluateDocuments(
      db,
      caller,
      organizationId,
      documentIds,
      session,
      now / 1000,
      answers,
    )
    return new Map(documentIds.map((id) => [id, access(id).decision]))
  }
  const decisions = await permissionProvider.check(caller, decide, (ask) => reading.outside(ask))
  const visible = rows.filter(({ documentId }) => decisions.get(documentId)?.allowed)
  const fitting = visible.slice(0, room)
  await reading.pause()
  const stored = await documents.findMany(
    db,
    apiKey,
    organizationId,
    fitting.map(({ documentId }) => documentId),
  )
  const byId = new Map(stored.map((one) => [one.documentId, one]))
  const shown = fitting.flatMap(({ documentId }) => {
    const document = byId.get(documentId)
    return document ? [present(document, decisions.get(documentId) as Decision & { allowed: true })] : []
  })
  const lastRow = visible.length > room ? fitting.at(-1) : rows.length === limit ? rows.at(-1) : undefined
  return { shown, last: lastRow && [lastRow.createdAt, lastRow.documentId] }
}

/** The list is ordered by the time of creation, newest first. */
const isBehind =
  (after: Cursor | undefined) =>
  ({ createdAt, documentId }: documents.Document): boolean => {
    if (!after) return true
    const [time, id] = after as [number, string]
    return createdAt < time || (createdAt === time && documentId < id)
  }

function present(
  { documentId, folderId, data: { documentName }, createdAt, lastUpdated }: documents.Document,
  { accessRole, expiresAt }: Decision & { allowed: true },
): ListedDocument {
  return {
    documentId,
    ...(typeof documentName === 'string' && { documentName }),
    ...(folderId !== null && { folderId }),
    accessRole,
    ...(expiresAt !== undefined && { accessUntil: expiresAt }),
    createdAt,
    lastUpdated,
  }
}
