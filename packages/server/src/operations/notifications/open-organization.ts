import { evaluateDocuments } from '../../access/sessions/session-access.ts'
import { findOrganization } from '../../store/access/access.ts'
import { type ActingCall, deniedMessage } from '../comments/acting-user.ts'
import { denied } from '../shared/calling-user.ts'

/**
 * Refuses a calling user if the organization is disabled, or if the user may not read one of the documents (spec 18.6.2, 18.6.3). A
 * backend may do everything.
 */
export async function requireOpen(
  { caller, db, now, services }: ActingCall,
  organizationId: string,
  documentIds: readonly string[] = [],
): Promise<void> {
  const { apiKey, user } = caller
  if (!user) return
  const organization = await findOrganization(db, apiKey, organizationId)
  if (organization?.disabled) throw denied('The organization is disabled.')
  if (documentIds.length === 0) return
  const answers = services.permissionProvider.answersFor(caller)
  const { session } = user
  const access = await evaluateDocuments(
    db,
    caller,
    organizationId,
    documentIds,
    session,
    now / 1000,
    answers,
  )
  for (const id of documentIds) if (!access(id).decision.allowed) throw denied(deniedMessage)
}
