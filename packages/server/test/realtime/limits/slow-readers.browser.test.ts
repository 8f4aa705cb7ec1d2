import { expect, onTestFinished, test } from 'vitest'
import * as Y from 'yjs'
import { openBrowser } from '../../support/services/chromium.ts'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { appendUpdates } from '../../support/data/editors.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { socketUrl } from '../../support/clients/raw-socket.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
/** More than the server sends in one piece. */
const bytes = 6_000_000
const server = useServer(anyStore)

test('[R14.2] a browser joins the pieces of a large document', async () => {
  const tenant = await given.tenant(server)
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'x'.repeat(bytes))
  const create = { type: 'text', contentKey: 'content' } as const
  await appendUpdates(server, tenant, editorRef, [Y.encodeStateAsUpdate(doc)], { create })
  const browser = await openBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`${server.url}/healthz`)
  const url = socketUrl(server, `/yjs/${editorName}?token=${await tokenFor(tenant)}`)
  // The code is a string because it runs in the page.
  const largest = await page.evaluate<number>(`new Promise((resolve, reject) => {
      const socket = new WebSocket(${JSON.stringify(url)})
      socket.binaryType = 'arraybuffer'
      socket.onopen = () => socket.send(Uint8Array.of(0, 0, 1, 0))
      socket.onclose = ({ code }) => reject(new Error('closed ' + code))
      socket.onmessage = ({ data }) => data.byteLength > 1_000_000 && resolve(data.byteLength)
    })`)
  expect(largest).toBeGreaterThan(bytes)
})
