import { Compile } from 'typebox/compile'
import { beforeAll, describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { stores, type TestServer, useServer } from '../support/harness.ts'
import { type Entry, table } from '../support/table/table.ts'

const json = { 'content-type': 'application/json' }

async function request(server: TestServer, entry: Entry, init: RequestInit) {
  const response = await fetch(`${server.url}${entry.path}`, { method: 'POST', ...init })
  return { status: response.status, body: await response.json() }
}

const invalid = (message: string, { operation }: Entry) => ({
  error: { status: 'INVALID_ARGUMENT', ...(operation.errorCode && { code: 'INVALID_ARGUMENT' }), message },
})

test('[0.1] no two operations share a path', () => {
  const paths = table.map((entry) => entry.path)
  expect(new Set(paths).size).toBe(paths.length)
  expect(paths.length).toBeGreaterThan(80)
})

describe('[0.1] the envelope of every operation', () => {
  const server = useServer('sqlite', { isOwn: true })

  let tenant: given.Tenant
  beforeAll(async () => {
    tenant = await given.tenant(server)
  })

  test.each(table)(
    '[0.1.1] [0.1.2] $path accepts only POST, and only JSON with data, unless its body is optional',
    async (entry) => {
      const headers: Record<string, string> = { ...json, ...given.headersFor(tenant, entry.operation.access) }

      const get = await fetch(`${server.url}${entry.path}`)
      expect({ status: get.status, body: await get.json() }).toEqual({
        status: 405,
        body: invalid('Only POST is supported.', entry),
      })
      if (entry.operation.access === 'body') headers['x-svc-api-key'] = tenant.apiKey
      if (entry.operation.access === 'body') headers['x-svc-auth-token'] = tenant.authToken

      expect(await request(server, entry, { headers, body: '{"data":' })).toEqual({
        status: 400,
        body: invalid('Request body is not valid JSON.', entry),
      })
      expect(
        await request(server, entry, { headers: { ...headers, 'content-type': 'text/plain' }, body: '{}' }),
      ).toEqual({
        status: 400,
        body: invalid('Content-Type must be application/json.', entry),
      })
      const wrong = ['{"data":[]}', '{"data":"x"}', '{"data":3}', '[]', '"x"']
      if (entry.operation.body !== 'optional') wrong.push('{}', 'null', '{"data":null}')
      for (const body of wrong) {
        expect(await request(server, entry, { headers, body })).toEqual({
          status: 400,
          body: invalid('data is required.', entry),
        })
      }
      if (entry.operation.body === 'optional') {
        expect((await request(server, entry, { headers: { ...headers }, body: '{}' })).status).toBe(200)
        const bare = { ...headers }
        delete bare['content-type']
        expect((await request(server, entry, { headers: bare })).status).toBe(200)
        expect(
          (await request(server, entry, { headers: { ...bare, 'content-type': 'text/plain' }, body: '' }))
            .status,
        ).toBe(200)
      }
    },
  )

  test('[0.1.1] an unknown path answers NOT_FOUND', async () => {
    expect(await server.post('/v2/nothing', {})).toMatchObject({
      status: 404,
      body: { error: { status: 'NOT_FOUND', message: 'Not found.' } },
    })
  })
})

describe.each(stores)('[0.1] examples on %s', (store) => {
  const server = useServer(store, { isOwn: true })

  test.each(table)(
    '[0.1] $path answers its example with its declared output or one of its declared errors',
    async (entry) => {
      const tenant = await given.tenant(server)
      const input = given.exampleFor(tenant, entry.operation)
      const { status, body } = await server.post(
        entry.path,
        { data: input },
        given.headersFor(tenant, entry.operation.access),
      )

      if (status < 300) {
        expect(status).toBe(entry.operation.successStatus ?? 200)
        expect(body.result.status).toBe('success')
        expect(typeof body.result.message).toBe('string')
        expect(Object.hasOwn(body.result, 'data')).toBe(true)
        const check = Compile(entry.operation.output)
        expect([...check.Errors(body.result.data)]).toEqual([])
      } else {
        // An empty tenant lacks the resources of the example, so the answer is one of the declared errors.
        const { status: code, message } = body.error
        const declared = (entry.operation.errors ?? []).map((error) => `${error.status} ${error.message}`)
        expect(declared).toContain(`${code} ${message}`)
      }
    },
  )
})
