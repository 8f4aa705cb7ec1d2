import { Errors } from 'typebox/value'
import { beforeAll, describe, expect, test } from 'vitest'
import { quickRequest } from '../support/clients/quick-http.ts'
import * as given from '../support/given.ts'
import { anyStore, stores, useServer } from '../support/harness.ts'
import { type Entry, table } from '../support/table/table.ts'

const json = { 'content-type': 'application/json' }

const wrongBodies = ['{"data":[]}', '{"data":"x"}', '{"data":3}', '[]', '"x"']

const invalid = (message: string, { operation }: Entry) => ({
  error: { status: 'INVALID_ARGUMENT', ...(operation.errorCode && { code: 'INVALID_ARGUMENT' }), message },
})

test('[0.1] no two operations share a path', () => {
  const paths = table.map((entry) => entry.path)
  expect(new Set(paths).size).toBe(paths.length)
  expect(paths.length).toBeGreaterThan(80)
})

describe('[0.1] the envelope of every operation', () => {
  const server = useServer(anyStore)

  let tenant: given.Tenant
  beforeAll(async () => {
    tenant = await given.tenant(server)
  })

  test.each(table)(
    '[0.1.1] [0.1.2] $path accepts only POST, and only JSON with data, unless its body is optional',
    async (entry) => {
      const headers: Record<string, string> = { ...json, ...given.headersFor(tenant, entry.operation.access) }

      const url = `${server.url}${entry.path}`
      const refused = (status: number, message: string) => ({ status, body: invalid(message, entry) })
      expect(await quickRequest(url, 'GET', {})).toEqual(refused(405, 'Only POST is supported.'))
      if (entry.operation.access === 'body') headers['x-svc-api-key'] = tenant.apiKey
      if (entry.operation.access === 'body') headers['x-svc-auth-token'] = tenant.authToken

      const post = (body: string, own = headers) => quickRequest(url, 'POST', own, body)
      const plain = { ...headers, 'content-type': 'text/plain' }
      expect(await post('{"data":')).toEqual(refused(400, 'Request body is not valid JSON.'))
      expect(await post('{}', plain)).toEqual(refused(400, 'Content-Type must be application/json.'))
      // The bodies take turns.
      const wrong = wrongBodies.filter((_, i) => (i + table.indexOf(entry)) % 4 === 0)
      if (entry.operation.body !== 'optional') wrong.push('{}', 'null', '{"data":null}')
      const answers = await Promise.all(wrong.map((body) => post(body)))
      expect(answers).toEqual(wrong.map(() => refused(400, 'data is required.')))
      if (entry.operation.body === 'optional') {
        const { 'content-type': _, ...bare } = headers
        expect(await post('{}')).toMatchObject({ status: 200 })
        expect(await post('', bare)).toMatchObject({ status: 200 })
        expect(await post('', plain)).toMatchObject({ status: 200 })
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
  const server = useServer(store)

  /** A tenant in which no write has succeeded. */
  let empty: given.Tenant | undefined

  // Older versions share the statements.
  const entries = table.filter(
    ({ operation, version }) => store === 'sqlite' || version === operation.versions.at(-1),
  )

  test.each(entries)(
    '[0.1] $path answers its example with its declared output or one of its declared errors',
    async ({ operation, path }) => {
      const tenant = (empty ??= await given.tenant(server))
      const { status, body } = await server.post(
        path,
        { data: given.exampleFor(tenant, operation) },
        given.headersFor(tenant, operation.access),
      )

      if (status < 300) {
        if (operation.effect === 'write') empty = undefined
        expect(status).toBe(operation.successStatus ?? 200)
        expect(body.result.status).toBe('success')
        expect(typeof body.result.message).toBe('string')
        expect(Object.hasOwn(body.result, 'data')).toBe(true)
        expect(Errors(operation.output, body.result.data)).toEqual([])
      } else {
        // An empty tenant lacks the resources of the example, so the answer is one of the declared errors.
        const { status: code, message } = body.error
        const declared = (operation.errors ?? []).map((error) => `${error.status} ${error.message}`)
        expect(declared).toContain(`${code} ${message}`)
      }
    },
  )
})
