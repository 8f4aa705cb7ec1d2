import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'
import { table } from '../support/table/table.ts'

const valid = { organizationId: 'o1', documentId: 'd1', liveStateDataId: 'player', data: {} }
const paths = ['/v1/livestate/broadcast', '/v2/livestate/broadcast']

describe.each(stores)('the error code of broadcasts on %s', (store) => {
  const server = useServer(store, {
    env: { LIMIT_API_KEY_REQUESTS_PER_MINUTE: '20', LIMIT_BODY_BYTES: '20000', REQUEST_TIMEOUT_SECONDS: '2' },
  })

  test.each(paths)('[4.15] [7] errors of %s have a code with the same value as the status', async (path) => {
    const { headers } = await given.tenant(server)
    const token = { 'x-svc-auth-token': headers['x-svc-auth-token'] }
    const faults: [status: string, http: number, body: unknown, headers: Record<string, string>][] = [
      ['INVALID_ARGUMENT', 400, { data: valid }, {}],
      ['INVALID_ARGUMENT', 400, { data: valid }, token],
      ['PERMISSION_DENIED', 403, { data: valid }, { ...token, 'x-svc-api-key': 'none' }],
      ['PERMISSION_DENIED', 403, { data: valid }, { ...headers, origin: 'https://elsewhere.example' }],
      ['UNAUTHENTICATED', 401, { data: valid }, { ...headers, 'x-svc-auth-token': 'wrong' }],
      ['INVALID_ARGUMENT', 400, '{"data":', headers],
      ['INVALID_ARGUMENT', 400, '{}', headers],
      ['INVALID_ARGUMENT', 400, { data: { ...valid, documentId: 1 } }, headers],
      ['INVALID_ARGUMENT', 400, { ...valid, documentId: '' }, headers],
      ['INVALID_ARGUMENT', 400, { data: valid }, { ...headers, 'content-type': 'text/plain' }],
      ['INVALID_ARGUMENT', 400, { data: valid }, { ...headers, 'idempotency-key': ' ' }],
      ['INVALID_ARGUMENT', 413, { data: { ...valid, data: { a: 'x'.repeat(20_000) } } }, headers],
    ]
    for (const [status, http, body, sent] of faults) {
      const answer = await server.post(path, body, sent)
      expect(answer).toMatchObject({ status: http, body: { error: { status, code: status } } })
      expect(Object.keys(answer.body.error)).toEqual(['status', 'code', 'message'])
    }

    const encoded = await server.post(path.replace('broadcast', '%62roadcast'), {})
    expect(encoded.body.error).toMatchObject({ status: 'INVALID_ARGUMENT', code: 'INVALID_ARGUMENT' })
    const response = await fetch(`${server.url}${path}?x=1`)
    expect([response.status, await response.json()]).toMatchObject([
      405,
      { error: { status: 'INVALID_ARGUMENT', code: 'INVALID_ARGUMENT', message: 'Only POST is supported.' } },
    ])
  })

  test('[4.15] [7] the errors of a rate-limited broadcast and of one that arrives too slowly have a code', async () => {
    const busy = await given.tenant(server)
    let limited
    do limited = await server.post(paths[0]!, { data: valid }, busy.headers)
    while (limited.status === 200)
    expect(limited).toMatchObject({
      status: 429,
      body: { error: { status: 'RESOURCE_EXHAUSTED', code: 'RESOURCE_EXHAUSTED' } },
    })

    const { headers } = await given.tenant(server)
    const { port } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1')
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    socket.write(
      [`POST ${paths[0]} HTTP/1.1`, 'host: x', 'content-length: 9', ...lines, '', '{'].join('\r\n'),
    )
    const answer = await text(socket)
    expect(answer).toContain(' 408 ')
    expect(answer).toContain('"status":"INVALID_ARGUMENT","code":"INVALID_ARGUMENT"')
  })

  test('[7] errors of operations other than Broadcast Event have no code', async () => {
    for (const { path } of table.filter(({ name }) => name !== 'liveState.broadcast')) {
      const { body } = await server.post(path, '{')
      expect([path, Object.keys(body.error)]).toEqual([path, ['status', 'message']])
    }
  })
})
