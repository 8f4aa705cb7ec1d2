import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { type Dialect, dialects, rawClient } from '../../support/clients/raw-clients.ts'
const editorRef = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
const text = 'x'.repeat(16_000)

describe('awareness under load', () => {
  const server = useServer(anyStore)

  async function scene() {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    return async (userId: string, role: 'viewer' | 'editor', dialect: Dialect = 'yjs') => {
      const token = await tokenFor(tenant, userId, { role })
      const client = rawClient(server, dialect, { ...editorRef, token })
      expect(await client.opened()).not.toHaveProperty('reason')
      return client
    }
  }

  test('[R35.1] viewers with the largest states neither hide the state of an editor from other clients nor any state from a client that joins later', async () => {
    const open = await scene()
    const observer = await open('wit', 'editor', 'realtime')
    const viewers = await Promise.all(Array.from({ length: 40 }, (_, index) => open(`v${index}`, 'viewer')))
    for (const [index, viewer] of viewers.entries()) viewer.sendAwareness(100 + index, 1, { index, text })
    await eventually(() => viewers.filter((_, index) => observer.awarenessOf(100 + index))).toHaveLength(40)
    const ada = await open('ada', 'editor')
    ada.sendAwareness(1, 1, { name: 'Ada' })
    await eventually(() => observer.awarenessOf(1)).toEqual({ name: 'Ada' })
    for (const dialect of dialects) {
      const late = await open('late', 'viewer', dialect)
      await eventually(() => viewers.filter((_, index) => late.awarenessOf(100 + index))).toHaveLength(40)
      // States come in several messages, in no promised order.
      await eventually(() => late.awarenessOf(1)).toEqual({ name: 'Ada' })
    }
    viewers[0]?.terminate()
    await eventually(() => observer.awarenessOf(100)).toBeUndefined()
  })

  test('[R35] a client that reads slowly gets the current states once it has caught up', async () => {
    const open = await scene()
    const slow = await open('slow', 'viewer')
    const writers = await Promise.all(Array.from({ length: 10 }, (_, index) => open(`w${index}`, 'editor')))
    slow.socket.pause()
    // Together 7 MB, more than the buffers of the server and the operating system hold.
    for (let clock = 1; clock <= 45; clock++) {
      for (const [index, writer] of writers.entries())
        writer.sendAwareness(100 + index, clock, { clock, text })
      await Promise.all(writers.map((writer) => writer.flushed()))
    }
    slow.socket.resume()
    const clocks = () =>
      new Set(
        writers.map((_, index) => (slow.awarenessOf(100 + index) as { clock: number } | undefined)?.clock),
      )
    await eventually(clocks).toEqual(new Set([45]))
  })

  test('[R34.2] an awareness state above 16 KiB closes the connection with a reason', async () => {
    const open = await scene()
    const client = await open('ada', 'editor')
    client.sendAwareness(1, 1, { text: 'x'.repeat(16_384) })
    expect(await client.closed).toEqual({ code: 4400, reason: 'An awareness state has at most 16 KiB.' })
  })
})
