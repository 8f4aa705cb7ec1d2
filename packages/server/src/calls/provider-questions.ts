import { evaluateDocuments } from '../access/sessions/session-access.ts'
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
  const named = [...new Set([...(documentId === undefined ? [] : [documentId]), ...documentIds])]
  if (named.length === 0) return
  await permissionProvider.check(caller, async (answers) => {
    const { session } = user
    const now = clock.now() / 1000
    const access = await evaluateDocuments(
      database.read,
      caller,
      organizationId,
      named,
      session,
      now,
      answers,
    )
    for (const id of named) access(id)
  })
}
