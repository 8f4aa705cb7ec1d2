import type { Operations } from '@plenum/protocol'
import type { Handlers } from '../../calls/call.ts'
import { findPosition } from '../../store/documents/documents.ts'
import * as comments from '../../store/comments/comments.ts'
import * as views from '../../store/comments/views.ts'
import { outcomes } from '../shared/batches.ts'
import { actingUserId } from '../shared/calling-user.ts'
import { notifies, requireAccess } from './acting-user.ts'
import { ensureAuthors } from './authors.ts'
import { selectAnnotations } from './selected-annotations.ts'
import { requireAnnotation } from './thread.ts'
import { isChoice } from '../../threads/counters.ts'
import { ThreadChanges } from '../../threads/thread-changes.ts'

type Family = Operations['commentAnnotations']

/** What a user has seen, and what the user wants to hear about. */
export const viewHandlers: Handlers<Pick<Family, 'markViewed' | 'subscribe'>> = {
  async markViewed(call) {
    const { input, caller, db, now } = call
    const { apiKey } = caller
    const { organizationId } = input
    const userId = actingUserId(caller.user, input.userId)
    const visible = await requireAccess(call, input, 'read')
    const { found, ids } = await selectAnnotations(call, input, input.annotationIds.length, visible)
    const position = await findPosition(db, apiKey, input)
    if (position && found.length > 0) {
      await views.put(db, apiKey, organizationId, found, { userId, seq: position.seq, now })
      const numbers = found.map(({ number }) => number)
      call.signal({ kind: 'viewed', organizationId, documentId: input.documentId, userId, numbers })
    }
    const seen = new Set(found.map(({ annotationId }) => annotationId))
    return outcomes(ids, (id) =>
      seen.has(id)
        ? { success: true, id, message: 'Annotation viewed.' }
        : { success: false, id, message: 'Annotation not found.' },
    )
  },

  async subscribe(call) {
    const { input, caller, db, now } = call
    const { apiKey } = caller
    const { organizationId, subscribed = true } = input
    const userId = actingUserId(caller.user, input.userId)
    const annotation = await requireAnnotation(call, input, 'read')
    await ensureAuthors(db, apiKey, [{ userId }], now)
    const users = await comments.findUsers(db, apiKey, organizationId, annotation)
    const others = users.filter((one) => one.userId !== userId || !isChoice(one))
    const choice = { userId, involvement: subscribed ? ('subscribed' as const) : ('unsubscribed' as const) }
    const isChosen = users.some((one) => one.userId === userId && one.involvement === choice.involvement)
    if (isChosen) return null
    const changes = await ThreadChanges.begin(call, input)
    await comments.setInvolved(db, apiKey, organizationId, annotation, [...others, choice])
    changes.put(annotation)
    const name = subscribed ? 'comment_annotation.subscribe' : 'comment_annotation.unsubscribe'
    changes.record({ name, annotation, actorId: userId, notifies: notifies(caller.user) })
    await changes.save()
    return null
  },
}
