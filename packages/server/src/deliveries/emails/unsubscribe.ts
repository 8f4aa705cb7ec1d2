import type { Database } from '../../store/engine/db.ts'
import { clearChannel } from '../../store/notifications/cleared-channels.ts'
import * as configs from '../../store/notifications/configs.ts'
import type { UnsubscribeTarget } from './unsubscribe-tokens.ts'

/** What a recipient can choose (spec 3.5): which mails, about this document or about the whole organization. */
const unsubscribeChoices = {
  mine: { email: 'MINE', scope: 'document' },
  document: { email: 'NONE', scope: 'document' },
  organization: { email: 'NONE', scope: 'organization' },
  allOfDocument: { email: 'ALL', scope: 'document' },
  allOfOrganization: { email: 'ALL', scope: 'organization' },
} as const

export type UnsubscribeChoice = keyof typeof unsubscribeChoices

export const isUnsubscribeChoice = (text: string): text is UnsubscribeChoice =>
  Object.hasOwn(unsubscribeChoices, text)

/** Stores the choice. A choice for the organization also replaces the choices for its documents. */
export async function unsubscribe(
  database: Database,
  { apiKey, organizationId, documentId, userId }: UnsubscribeTarget,
  choice: UnsubscribeChoice,
): Promise<void> {
  const { email, scope } = unsubscribeChoices[choice]
  const documentIds = scope === 'document' ? { documentIds: [documentId] } : {}
  await database.write(
    (db) => configs.put(db, apiKey, organizationId, { userIds: [userId], ...documentIds }, { email }),
    apiKey,
  )
  if (scope === 'document') return
  // In steps, because a user may have chosen for very many documents.
  for (let after: string | undefined = ''; after !== undefined;) {
    const from: string = after
    after = await database.write(
      (db) => clearChannel(db, apiKey, organizationId, userId, 'email', from),
      apiKey,
    )
  }
}
