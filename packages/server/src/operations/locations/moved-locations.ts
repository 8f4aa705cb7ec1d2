import type { Call } from '../../calls/call.ts'
import type { ApiKey } from '../../store/api-keys.ts'
import * as annotations from '../../store/comments/annotations.ts'
import * as annotationLists from '../../store/comments/lists.ts'
import type { Cursor } from '../../store/engine/db.ts'
import type { Part, Window } from '../../store/engine/scan.ts'
import * as notificationLists from '../../store/notifications/lists.ts'
import * as notifications from '../../store/notifications/notifications.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { changeInStep } from '../../threads/change-in-step.ts'
import { ThreadChanges } from '../../threads/thread-changes.ts'
import { locationIdOf } from '../shared/locations.ts'
import { scanningOf } from '../shared/scanned-list.ts'

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
  const scanning = scanningOf(services.longReads.open(caller), { hasPages: false })
  const find = (window: FindWindow) =>
    annotationLists.findPositions(db, apiKey, filter, { ...window, order: 'asc' }, scanning)
  for await (const positions of inSlices(find)) {
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
  { db, caller, services }: StepCall,
  { organizationId, documentId }: DocumentRef,
  locationIds: readonly string[],
  moved: Moved,
): Promise<void> {
  const { apiKey } = caller
  const scanning = scanningOf(services.longReads.open(caller), { hasPages: false })
  for (const locationId of locationIds) {
    const filter = { organizationId, documentId, locationId }
    const find = (window: FindWindow) =>
      notificationLists.findPositions(db, apiKey, filter, { ...window, order: 'asc' }, scanning)
    for await (const positions of inSlices(find)) {
      const found = await notificationLists.readPositions(db, apiKey, organizationId, positions)
      const ids = found.map(({ id }) => id)
      await services.writeStep(async (db) => {
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

type FindWindow = Pick<Window, 'limit' | 'after'>

/** All items of a list, as many at a time as one transaction changes. */
async function* inSlices<Position>(
  find: (window: FindWindow) => Promise<Part<Position>>,
): AsyncGenerator<Position[]> {
  for (let after: Cursor | undefined; ;) {
    const { items, next } = await find({ limit: maxPerTransaction, after })
    for (let start = 0; start < items.length; start += maxPerTransaction) {
      yield items.slice(start, start + maxPerTransaction)
    }
    if (!next) return
    after = next
  }
}
