import type { ProviderAnswers } from '../../access/provider/permission-provider.ts'
import { createSessionVisible, evaluateSession } from '../../access/sessions/session-access.ts'
import { createVisible } from '../../access/viewers.ts'
import type { Call, UserCaller } from '../../calls/call.ts'
import { groupBy } from '../../platform/group-by.ts'
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
 * Keeps the notifications that the user may read: one about a comment only while the user can read the document and sees the
 * annotation, and one with an access context only while the user holds every field of it (spec 18.2.1).
 */
export function visibleTo(
  { caller, db, now, input: { organizationId }, services: { permissionProvider } }: ReadingCall,
  userId: string,
): (rows: Rows) => Promise<StoredNotification[]> {
  const { apiKey } = caller
  const session = caller.user?.session ?? { userId, resources: [] }

  /** The ids of the annotations that the user sees, of those that notifications of one document are about. */
  const seenIn = async (documentId: string, rows: Rows, answers: ProviderAnswers | undefined) => {
    const document = { organizationId, documentId }
    const { decision, overlay } = await evaluateSession(db, caller, document, session, now / 1000, answers)
    if (!decision.allowed) return new Set<string>()
    const ids = unique(rows.flatMap(({ content }) => content.targetAnnotationId ?? []))
    const stored = await annotations.findByIds(db, apiKey, document, ids)
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
    return permissionProvider.check(caller, async (answers) => {
      const aboutComments = rows.filter(({ content }) => content.targetAnnotationId !== undefined)
      const seen = new Map<string, Set<string>>()
      for (const [documentId, some] of groupBy(aboutComments, (one) => one.documentId)) {
        await yieldIfLate()
        seen.set(documentId, await seenIn(documentId, some, answers))
      }
      return rows.filter(
        ({ documentId, content: { targetAnnotationId: id } }) =>
          id === undefined || seen.get(documentId)?.has(id) === true,
      )
    })
  }
}

/** Who may read a notification by its access context. */
function audienceOf({ content: { context } }: StoredNotification): Audience | null {
  const fields = Object.entries((context?.access ?? {}) as Record<string, string | number>)
  return fields.length === 0 ? null : { access: fields.map(([key, value]) => `${key}:${value}`) }
}
