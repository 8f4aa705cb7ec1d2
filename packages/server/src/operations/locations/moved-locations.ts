import type { Call } from '../../calls/call.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import * as annotations from '../../store/comments/annotations.ts'
import { list } from '../../store/comments/lists.ts'
import type { Cursor } from '../../store/engine/db.ts'
import * as notificationLists from '../../store/notifications/lists.ts'
import * as notifications from '../../store/notifications/notifications.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { changeInStep } from '../../threads/change-in-step.ts'
import { ThreadChanges } from '../../threads/thread-changes.ts'
import { locationIdOf } from '../shared/locations.ts'

type StepCall = Pick<Call, 'db' | 'now' | 'services'> & { caller: ApiKey }
type Location = Record<string, unknown>
/** The new location of what is at the stored one. */
type Moved = (stored: Location | undefined) => Location

/** Annotations or notifications that one transaction changes: about 10 ms on SQLite. */
const maxPerTransaction = 20

/**
 * Gives the annotations at these locations another one. They keep the time of their last change, and with it their place in
 * the list that this goes through.
 */
export async function moveAnnotations(
  call: StepCall,
  document: DocumentRef,
  locationIds: readonly string[],
  moved: Moved,
): Promise<void> {
  const { db, caller, services } = call
  const { apiKey } = caller
  const { organizationId, documentId } = document
  const filter = { organizationId, documentIds: [documentId], locationIds }
  const reading = services.longReads.open(caller)
  for (let after: Cursor | undefined; ;) {
    const window = { limit: maxPerTransaction, after, order: 'asc' as const }
    const positions = await list(db, apiKey, filter, window, reading)
    const last = positions.at(-1)
    if (!last) return
    after = [last.lastUpdated, last.documentId, last.number]
    await changeInStep(call, async (context) => {
      const found = await annotations.findMany(context.db, apiKey, organizationId, positions)
      const still = found.filter(({ locationId }) => locationId !== null && locationIds.includes(locationId))
      if (still.length === 0) return
      const changes = await ThreadChanges.begin(context, document)
      for (const annotation of still) {
        const location = moved(annotation.data.location)
        const changed = {
          ...annotation,
          locationId: String(locationIdOf(location)),
          data: { ...annotation.data, location },
        }
        changes.put(changed)
        changes.record({ name: 'comment_annotation.update', annotation: changed, notifies: false })
      }
      await changes.save()
    })
  }
}

/** Gives the notifications at these locations another one. */
export async function moveNotifications(
  { db, caller: { apiKey }, services }: StepCall,
  { organizationId, documentId }: DocumentRef,
  locationIds: readonly string[],
  moved: Moved,
): Promise<void> {
  for (const locationId of locationIds) {
    const filter = { organizationId, documentId, locationId }
    for (let after: Cursor | undefined; ;) {
      const window = { limit: maxPerTransaction, after, order: 'asc' as const }
      const found = await notificationLists.list(db, apiKey, filter, window)
      const last = found.at(-1)
      if (!last) break
      after = [last.timestamp, last.key]
      await services.writeStep(async (db) => {
        const ids = found.map(({ id }) => id)
        const still = await notificationLists.findMany(db, apiKey, { ...filter, ids })
        for (const { id, key, content } of still.values()) {
          const location = moved(content.location)
          const changed = { ...content, location, locationId: locationIdOf(location) }
          await notifications.setContent(db, apiKey, { organizationId, id, key, content: changed })
        }
      }, apiKey)
    }
  }
}
