import { evaluateSession } from '../access/sessions/session-access.ts'
import type { Services } from './services.ts'
import type { UserCaller } from './call.ts'

/**
 * Asks the permission provider about the documents that a user's call names, before the call runs: in a transaction nothing
 * may wait for the provider. The handler then finds the answers.
 */
export async function askProvider(
  { permissionProvider, database, clock }: Services,
  caller: UserCaller,
  input: unknown,
): Promise<void> {
  const { user } = caller
  if (!user || !permissionProvider.answersFor(caller)) return
  const {
    organizationId,
    documentId,
    documentIds = [],
  } = input as {
    organizationId?: string
    documentId?: string
    documentIds?: readonly string[]
  }
  if (organizationId === undefined) return
  const named = new Set([...(documentId === undefined ? [] : [documentId]), ...documentIds])
  await permissionProvider.check(caller, async (answers) => {
    for (const id of named) {
      const document = { organizationId, documentId: id }
      await evaluateSession(database.read, caller, document, user.session, clock.now() / 1000, answers)
    }
  })
}
