import {
  createSessionVisible,
  evaluateDocuments,
  type SessionAccess,
} from '../../access/sessions/session-access.ts'
import { createVisible } from '../../access/viewers.ts'
import type { Call, UserCaller } from '../../calls/call.ts'
import { groupBy } from '../../platform/group-by.ts'
import type { AroundQuestion, ProviderAnswers } from '../../access/provider/permission-provider.ts'
import { yieldIfLate } from '../../platform/turns/loop-time.ts'
import * as annotations from '../../store/comments/annotations.ts'
import type { Audience } from '../../store/comments/audience.ts'
import type { StoredNotification } from '../../store/notifications/lists.ts'
import { unique } from '../shared/batches.ts'

type Rows = readonly StoredNotification[]

/** The parts of a call that the check uses. */
interface ReadingCall extends Pick<Call, 'db' | 'now' | 'services'> {
  caller: UserCaller
  input: { organizationId: string }
}

/**
 * Keeps the notifications that the user may read (spec 18.2.1): one about a comment only while the user can read the document
 * and sees the annotation, and one with an access context only while the user holds every field of it. A calling user also
 * needs access to the documents of all other notifications; a backend decides itself whom it shows them.
 */
export function visibleTo(
  { caller, db, now, input: { organizationId }, services: { permissionProvider } }: ReadingCall,
  userId: string,
  around?: AroundQuestion,
): (rows: Rows) => Promise<StoredNotification[]> {
  const { apiKey } = caller
  const session = caller.user?.session ?? { userId, resources: [] }
  const needsAccess = ({ content }: StoredNotification) =>
    caller.user !== undefined || content.targetAnnotationId !== undefined

  /** The ids of the annotations that the user sees, of those that notifications of one document are about. */
  const seenIn = async (documentId: string, rows: Rows, { overlay }: SessionAccess) => {
    const ids = unique(rows.flatMap(({ content }) => content.targetAnnotationId ?? []))
    if (ids.length === 0) return new Set<string>()
    const stored = await annotations.findByIds(db, apiKey, { organizationId, documentId }, ids)
    const visible = createVisible(db, { apiKey, organizationId, userId, now, overlay })
    const isVisible = await visible(stored.map(({ audience }) => audience))
    return new Set(stored.filter(({ audience }) => isVisible(audience)).map((one) => one.annotationId))
  }

  const keepHeld = async (rows: Rows) => {
    const audiences = rows.map(audienceOf)
    if (audiences.every((audience) => audience === null)) return rows
    const isVisible = await createSessionVisible(db, apiKey, organizationId, session, now)(audiences)
    return rows.filter((_, index) => isVisible(audiences[index] ?? null))
  }

  return async (all) => {
    const rows = await keepHeld(all)
    const check = async (answers: ProviderAnswers | undefined) => {
      const inDocuments = groupBy(rows.filter(needsAccess), (one) => one.documentId)
      const documentIds = [...inDocuments.keys()]
      if (documentIds.length === 0) return [...rows]
      const access = await evaluateDocuments(
        db,
        caller,
        organizationId,
        documentIds,
        session,
        now / 1000,
        answers,
      )
      const readable = new Set<string>()
      const seen = new Map<string, Set<string>>()
      for (const [documentId, some] of inDocuments) {
        await yieldIfLate()
        const found = access(documentId)
        if (!found.decision.allowed) continue
        readable.add(documentId)
        seen.set(documentId, await seenIn(documentId, some, found))
      }
      return rows.filter((row) => {
        const { targetAnnotationId: id } = row.content
        if (id !== undefined) return seen.get(row.documentId)?.has(id) === true
        return !needsAccess(row) || readable.has(row.documentId)
      })
    }
    return permissionProvider.check(caller, check, around)
  }
}

/** Who may read a notification by its access context. */
function audienceOf({ content: { context } }: StoredNotification): Audience | null {
  const fields = Object.entries((context?.access ?? {}) as Record<string, string | number>)
  return fields.length === 0 ? null : { access: fields.map(([key, value]) => `${key}:${value}`) }
}
