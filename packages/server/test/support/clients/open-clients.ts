import { onTestFinished } from 'vitest'
import type * as Y from 'yjs'

/** A client of another project with its provider. */
export interface ProviderClient<P> {
  provider: P
  doc: Y.Doc
  text: Y.Text
}

/** The editor that clients open unless a test names another one. */
export const editorName = 'org_1/doc_1/note'

const openClients = new Set<{ destroy(): void }>()

/** Closes all clients of a test before its end. */
export function closeClients(): void {
  for (const client of openClients) client.destroy()
  openClients.clear()
}

/** Closes the client after the test. `afterEach` would apply only to the first of the files that share this module. */
export function closeAfterTest(client: { destroy(): void }): void {
  openClients.add(client)
  onTestFinished(() => {
    if (openClients.delete(client)) client.destroy()
  })
}
