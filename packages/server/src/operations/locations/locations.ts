import type { Input, Operations } from '@plenum/protocol'
import type { Call, Handlers } from '../../calls/call.ts'
import { removalSteps } from '../../store/deletions/removal.ts'
import { type Position, runSteps } from '../../store/deletions/row-step.ts'
import type { DocumentRef } from '../../store/refs.ts'
import { changeInStep } from '../../threads/change-in-step.ts'
import { deleteFew, findOrganization } from '../comments/delete-annotations.ts'
import { moveAnnotations, moveNotifications } from './moved-locations.ts'
import { requireIdentity, storedLocationIds } from '../shared/locations.ts'

type Family = Operations['locations']
type Location = Input<Family['deleteData']>['location']

/** Both operations work in short transactions, because very much may be at a location. */
export const locationHandlers: Handlers<Family> = {
  update: {
    async prepare(call): Promise<DocumentRef> {
      const { merge, migrate } = call.input
      const { oldLocation, newLocation } = migrate
      const locationIds = storedLocationIds([identityOf(oldLocation, 'migrate.oldLocation')])
      if (!merge) identityOf(newLocation, 'migrate.newLocation')
      const document = await documentOf(call)
      const moved = (stored: object | undefined) => (merge ? { ...stored, ...newLocation } : newLocation)
      await moveAnnotations(call, document, locationIds, moved)
      await moveNotifications(call, document, locationIds, moved)
      return document
    },
    write: signalChange,
  },

  deleteData: {
    async prepare(call): Promise<DocumentRef> {
      const { caller, services, input } = call
      const { apiKey } = caller
      const identity = identityOf(input.location, 'location')
      const document = await documentOf(call)
      const selectors = { ...document, locationIds: [identity] }
      const deleteStep = () =>
        changeInStep(call, (context) => deleteFew({ ...context, caller, services }, selectors))
      while ((await deleteStep()).deleted.length > 0) continue
      const { organizationId, documentId } = document
      for (const locationId of storedLocationIds([identity])) {
        const steps = removalSteps(apiKey, { organizationId, notificationsOf: { documentId, locationId } })
        for (let next: Position | undefined = { step: 0 }; next;) {
          const from: Position = next
          next = await services.writeStep((db) => runSteps(db, steps, from, []), apiKey)
        }
      }
      return document
    },
    write: signalChange,
  },
}

/** Open sessions read the document again. */
async function signalChange({ signal }: Pick<Call, 'signal'>, { organizationId, documentId }: DocumentRef) {
  signal({ kind: 'changed', organizationId, documentIds: [documentId] })
  signal({ kind: 'inbox', organizationId })
  return null
}

async function documentOf(call: Call<Family['deleteData']> | Call<Family['update']>): Promise<DocumentRef> {
  return { organizationId: await findOrganization(call), documentId: call.input.documentId }
}

/** What identifies the location: its id, else its name (spec 22.5). */
function identityOf(location: Location, field: string): string | number {
  requireIdentity(location, field)
  return location.id ?? (location.locationName as string)
}
