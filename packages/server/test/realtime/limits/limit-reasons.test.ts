import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { hocuspocusClient } from '../../support/clients/hocuspocus-client.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

type Client = ReturnType<typeof hocuspocusClient> | ReturnType<typeof yjsClient>

/** How a client exceeds each limit, and the code and reason that it gets. */
const limits: Record<string, { exceed: (client: Client) => unknown; code: number; reason: RegExp }> = {
  'an update above 1 MiB': {
    exceed: ({ text }) => text.insert(0, 'x'.repeat(1024 * 1024)),
    code: 4422,
    reason: /^The update has more than 1048576 bytes\.$/,
  },
  'an awareness state above 16 KiB': {
    exceed: ({ provider }) => provider.awareness?.setLocalState({ text: 'x'.repeat(17_000) }),
    code: 4400,
    reason: /^An awareness state has at most 16 KiB\.$/,
  },
  'an editor above the limit of a document': {
    exceed: ({ text }) => text.insert(0, 'x'),
    code: 4429,
    reason: /^A document has at most 1 editors \(LIMIT_EDITORS_PER_DOCUMENT\)\.$/,
  },
}

describe('close reasons of clients over a limit', () => {
  const server = useServer(anyStore, { env: { LIMIT_EDITORS_PER_DOCUMENT: '1' } })

  /** Creates a token. For the editor limit, the document already has one editor. */
  async function scene(what: string) {
    const tenant = await given.tenant(server)
    const isSecond = what.startsWith('an editor')
    if (isSecond)
      await tenant.client.crdt.add({
        organizationId: 'org_1',
        documentId: 'doc_1',
        editorId: 'first',
        type: 'text',
        data: 'x',
      })
    return tokenFor(tenant)
  }

  test.each(Object.entries(limits))(
    '[R48] the close event of y-websocket has the code and the reason for %s',
    async (what, limit) => {
      const ends: { code: number; reason: string }[] = []
      const client = yjsClient(server, await scene(what))
      client.provider.on('closed', (end) => ends.push(end))
      await synced(client)
      limit.exceed(client)
      await eventually(() => ends).toEqual([
        { code: limit.code, reason: expect.stringMatching(limit.reason) },
      ])
    },
  )

  test.each(Object.entries(limits))(
    '[R48.1] the events authenticationFailed and close of Hocuspocus have the reason for %s, and the socket stays open',
    async (what, limit) => {
      const reasons: string[] = []
      const client = hocuspocusClient(server, await scene(what), {
        onAuthenticationFailed: ({ reason }) => reasons.push(reason),
        onClose: ({ event }) => reasons.push(event.reason),
      })
      await synced(client)
      limit.exceed(client)
      const reason = expect.stringMatching(limit.reason)
      await eventually(() => reasons).toEqual([reason, reason])
      expect(client.socket.status).toBe('connected')
    },
  )

  test('[R48.2] the close event of Hocuspocus has the code and the reason for a message above the maximum size', async () => {
    const ends: { code: number; reason: string }[] = []
    const client = hocuspocusClient(server, await scene('a message'), {
      onClose: ({ event }) => ends.push({ code: event.code, reason: event.reason }),
    })
    await synced(client)
    client.text.insert(0, 'x'.repeat(1_500_000))
    await eventually(() => ends[0]).toEqual({ code: 1009, reason: 'A message has at most 1 MiB and 64 KiB.' })
  })

  test('[R48.4] a Hocuspocus socket whose only provider is refused is closed with 4008 and the reason of the refusal', async () => {
    const reason = 'token_invalid: The token was not issued by this server.'
    const failures: string[] = []
    const ends: { code: number; reason: string }[] = []
    hocuspocusClient(server, 'x.y.z', {
      onAuthenticationFailed: (failure) => failures.push(failure.reason),
      onClose: ({ event }) => ends.push({ code: event.code, reason: event.reason }),
    })
    await eventually(() => failures).toEqual([reason])
    await expect.poll(() => ends[0], { timeout: 20_000 }).toEqual({ code: 4008, reason })
  }, 30_000)
})
