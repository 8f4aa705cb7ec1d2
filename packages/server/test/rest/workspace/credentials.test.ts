import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'

const invalid = (message: string) => ({ error: { status: 'INVALID_ARGUMENT', message } })

describe.each(stores)('workspace credentials on %s', (store) => {
  const server = useServer(store)

  const operations = [
    '/v2/workspace/get',
    '/v2/workspace/apikey/create',
    '/v2/workspace/apikey/update',
    '/v2/workspace/apikeys/get',
    '/v2/workspace/authtokens/get',
    '/v2/workspace/authtoken/reset',
  ]
  const others = operations.slice(1)
  const denied = { error: { status: 'PERMISSION_DENIED', message: 'Invalid workspace credentials.' } }

  test.each(operations)('[0.2] %s requires the workspace id, and then the token', async (path) => {
    const body = invalid('Workspace ID not found in headers.')
    expect(await server.post(path, { data: {} })).toMatchObject({ status: 400, body })
    expect(await server.post(path, { data: {} }, { 'x-svc-auth-token': 'x' })).toMatchObject({
      status: 400,
      body,
    })
    expect(await server.post(path, { data: {} }, { 'x-svc-workspace-id': 'ws_x' })).toMatchObject({
      status: 400,
      body: invalid('Auth Token not found in headers.'),
    })
  })

  test('[1.2] get answers an unknown workspace and a wrong token with different errors', async () => {
    const one = await given.tenant(server)
    const other = await given.tenant(server)
    const get = (workspaceId: string, token: string) =>
      server.post(
        '/v2/workspace/get',
        { data: {} },
        { 'x-svc-workspace-id': workspaceId, 'x-svc-auth-token': token },
      )
    expect(await get('ws_unknown', one.workspaceAuthToken)).toMatchObject({
      status: 404,
      body: { error: { status: 'NOT_FOUND', message: 'Workspace not found.' } },
    })
    for (const token of ['wrong', other.workspaceAuthToken, one.authToken, `${one.workspaceAuthToken}x`]) {
      expect(await get(one.workspaceId, token)).toMatchObject({
        status: 401,
        body: { error: { status: 'UNAUTHENTICATED', message: 'Invalid auth token for workspace.' } },
      })
    }
  })

  test.each(others)(
    '[1.2] %s returns the same error for a wrong workspace id and a wrong token',
    async (path) => {
      const one = await given.tenant(server)
      const other = await given.tenant(server)
      for (const [workspaceId, token] of [
        ['ws_unknown', one.workspaceAuthToken],
        [one.workspaceId, 'wrong'],
        [one.workspaceId, other.workspaceAuthToken],
        [one.workspaceId, one.authToken],
      ] as const) {
        const headers = { 'x-svc-workspace-id': workspaceId, 'x-svc-auth-token': token }
        expect(await server.post(path, { data: {} }, headers)).toMatchObject({ status: 403, body: denied })
      }
    },
  )

  test('[5] a caller can send the token of the workspace in x-svc-workspace-auth-token', async () => {
    const { workspaceId, workspaceAuthToken } = await given.tenant(server)
    const headers = { 'x-svc-workspace-id': workspaceId, 'x-svc-workspace-auth-token': workspaceAuthToken }
    expect(await server.post('/v2/workspace/get', { data: {} }, headers)).toMatchObject({ status: 200 })
  })

  test('[5] an operation of a workspace refuses the credentials of an API key', async () => {
    const { headers } = await given.tenant(server)
    expect(await server.post('/v2/workspace/get', { data: {} }, headers)).toMatchObject({
      status: 400,
      body: invalid('Workspace ID not found in headers.'),
    })
  })
})
