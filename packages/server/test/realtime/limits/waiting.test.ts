import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import * as given from '../../support/given.ts'
import { startServer, type TestServer } from '../../support/harness.ts'
import { heldDisk } from '../../support/faults/held-disk.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { dialects, rawClient } from '../../support/clients/raw-clients.ts'

const disk = heldDisk()
let server: TestServer
beforeAll(async () => {
  server = await startServer('sqlite', { sync: disk.sync })
})
afterAll(() => server.stop())

test.each(dialects)(
  '[R18] at /%s a client that waits for its document gets answers to its pings',
  async (dialect) => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const token = await tokenFor(tenant)
    const open = (documentId: string) =>
      rawClient(server, dialect, { token, organizationId: 'org_1', documentId, editorId: 'note' })
    // Only the first sign-in of a user writes to the database.
    await open('doc_1').read()
    disk.hold()
    onTestFinished(disk.release)
    const creation = given.document(tenant, 'doc_2')
    await expect.poll(() => disk.waiting()).toBeGreaterThan(0)
    const client = open('doc_2')
    let isRead = false
    const text = client.read().finally(() => (isRead = true))
    for (let pings = 0; pings < 3; pings++) await client.flushed()
    expect(isRead).toBe(false)
    disk.release()
    expect(await text).toBe('')
    await creation
  },
  30_000,
)
