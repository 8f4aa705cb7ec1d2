import { type ApiError, type ConnectOptions, createClient } from '@plenum/client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import * as given from '../../support/given.ts'
import { anyStore, startServer, useServer } from '../../support/harness.ts'
import { eventually } from '../../support/clients/convergence.ts'
import { plenumConnection } from '../../support/clients/plenum-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Opens the document `org_1/doc_1` with an editor, and collects the errors of the connection, document and editor. */
function connect(client: Pick<ReturnType<typeof createClient>, 'connect'>, token: ConnectOptions['token']) {
  const connection = plenumConnection(client, token)
  const document = connection.document('org_1', 'doc_1')
  const editor = document.editor('note', { type: 'text' })
  const errors = [connection, document, editor].map((source) => {
    const received: ApiError[] = []
    source.on('error', (error) => received.push(error))
    return received
  })
  return { connection, document, editor, errors }
}

describe('errors of the client', () => {
  const server = useServer(anyStore, { isOwn: true })

  test('[K11] a user without access to a document gets an error event that names the document', async () => {
    const tenant = await given.tenant(server)
    await given.restrictedDocument(tenant, 'doc_1')
    const eve = connect(server.client(), await tokenFor(tenant, 'eve', { resources: [] }))
    await eventually(() => eve.document.status).toBe('denied')
    const error = {
      status: 'PERMISSION_DENIED',
      message: expect.stringMatching(/^org_1\/doc_1: The user may not open this document\. /),
    }
    expect(eve.errors).toMatchObject([[error], [error], [error]])
    expect(eve.connection.lastError).toBe(eve.errors[0]?.[0])
  })

  test('[K11] a document that is deleted while open emits an error event with that reason', async () => {
    const tenant = await given.tenant(server)
    const ada = connect(server.client(), await tokenFor(tenant))
    await ada.editor.whenSynced
    await tenant.client.documents.delete({ organizationId: 'org_1', documentIds: ['doc_1'] })
    const error = {
      status: 'NOT_FOUND',
      message: expect.stringMatching(/^org_1\/doc_1: The document was deleted\. /),
      details: { code: 4404 },
    }
    await eventually(() => ada.errors).toMatchObject([[error], [error], [error]])
    expect(ada.connection.status).toBe('connected')
  })

  test('[K11] [K11.3] a token that another server issued is refused with a reason that does not contain the token', async () => {
    const other = await startServer(anyStore)
    try {
      const token = await tokenFor(await given.tenant(other))
      const ada = connect(server.client(), token)
      await eventually(() => ada.connection.status).toBe('denied')
      expect(ada.connection.lastError?.message).toMatch(
        /^The server refused the token: The token was not issued by this server\. /,
      )
      expect(ada.connection.lastError?.message).not.toContain(token)
    } finally {
      await other.stop()
    }
  })
})

test('[K11] an expired token is refused with its expiry time', async () => {
  const server = await startServer(anyStore)
  try {
    const token = await tokenFor(await given.tenant(server))
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    server.clock.offsetMs += 49 * 3600 * 1000
    const ada = connect(server.client(), token)
    await eventually(() => ada.connection.status).toBe('denied')
    const moment = new Date(exp * 1000).toISOString()
    expect(ada.connection.lastError?.message).toContain(`The token expired at ${moment}.`)
  } finally {
    await server.stop()
  }
})

test('[K11.2] the client warns of an unreachable address once, after three attempts', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  // No server listens at port 1.
  const { connection } = connect(createClient({ url: 'http://127.0.0.1:1' }), 'header.claims.signature')
  await eventually(() => connection.lastError?.message).toContain('connect ECONNREFUSED 127.0.0.1:1')
  const message = (attempts: number) =>
    `Plenum does not answer at ws://127.0.0.1:1/realtime after ${attempts} attempts: is the server running, and is the address right?`
  await eventually(() => connection.lastError?.message).toBe(message(4))
  expect(warn.mock.calls).toEqual([[`[plenum] ${message(3)}`]])
  expect(connection.status).toBe('connecting')
})
