import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import { organizationId } from './raw-editor.ts'

/** Creates documents. A control may answer before it has stored them, so this function waits until they can be read. */
export async function createDocuments(cluster: Cluster, documentIds: string[]): Promise<void> {
  const client = cluster.client()
  const documents = documentIds.map((documentId) => ({ documentId }))
  await client.documents.add({ organizationId, documents, createOrganization: true })
  const areStored = () =>
    client.documents.get({ organizationId, documentIds }).then(
      () => true,
      () => false,
    )
  for (let attempt = 0; attempt < 50 && !(await areStored()); attempt++) await pause(20)
}
