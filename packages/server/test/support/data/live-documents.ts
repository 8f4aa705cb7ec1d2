import * as liveStates from '../../../src/store/documents/live-states.ts'
import * as presence from '../../../src/store/documents/presence.ts'
import type { DocumentRef } from '../../../src/store/refs.ts'
import type { TestServer } from '../harness.ts'

type Server = Pick<TestServer, 'database'>

/** The live states of a document, by name. No operation returns them. */
export const storedLiveStates = (
  { database }: Server,
  { apiKey }: { apiKey: string },
  { organizationId, documentId }: DocumentRef = { organizationId: 'org_1', documentId: 'doc_1' },
) => liveStates.list(database.read, apiKey, organizationId, documentId)

/** The users whom backends have added to the presence of a document. No operation returns them. */
export const storedPresence = (
  { database }: Server,
  { apiKey }: { apiKey: string },
  { organizationId, documentId }: DocumentRef,
  now = Date.now(),
) => presence.list(database.read, apiKey, organizationId, documentId, now)
