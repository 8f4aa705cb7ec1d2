import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { anyStore, stores, type TestServer, useServer } from '../support/harness.ts'

const refused = (message: string, status = 400) => ({
  status,
  body: { error: { status: 'INVALID_ARGUMENT', message } },
})

/** Makes a body larger than 32 KiB, so that the server parses it in pieces. */
const padding = 'x'.repeat(100_000)

/** Sends CRDT data to a new tenant, and reads it. */
async function sceneOn(server: TestServer) {
  const { client, headers } = await given.tenant(server)
  const send = (verb: string, type: string, data: string, more: Record<string, string> = {}) =>
    server.post(
      `/v2/crdt/${verb}`,
      `{"data":{"organizationId":"o1","documentId":"d1","editorId":"e1","type":"${type}","data":${data}}}`,
      { ...headers, ...more },
    )
  const stored = async () =>
    (await client.crdt.get({ organizationId: 'o1', documentId: 'd1' }).catch(() => ({ data: [] }))).data[0]
      ?.data
  return { client, headers, send, stored }
}

describe.each(stores)('large bodies with CRDT data on %s', (store) => {
  const server = useServer(store)

  test('[17] [17.3] the server stores large CRDT data of every type unchanged', async () => {
    for (const [type, first, second] of [
      ['text', `${padding} é😀"\\\n`, 'short'],
      ['xml', `<p>${padding}</p>`, `<p>${padding}</p><p>é</p>`],
      ['map', { a: padding, data: { data: ['é', null] } }, { a: padding, b: 1.5e-7 }],
      ['array', [padding, { data: 'x' }, 1e21], [padding]],
    ] as const) {
      const { send, stored } = await sceneOn(server)
      expect(await send('add', type, JSON.stringify(first))).toMatchObject({ status: 200 })
      expect(await stored()).toEqual(first)
      expect(await send('update', type, JSON.stringify(second))).toMatchObject({ status: 200 })
      expect(await stored()).toEqual(second)
    }
  })

  test('[I1] the server stores a large body with an Idempotency-Key once and refuses another body with the same key', async () => {
    const { send, stored } = await sceneOn(server)
    const key = { 'idempotency-key': 'once' }
    const data = JSON.stringify(padding)
    expect(await send('add', 'text', data, key)).toMatchObject({ status: 200 })
    const again = await send('add', 'text', data, key)
    expect(again).toMatchObject({ status: 200 })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await send('add', 'text', JSON.stringify(`${padding}y`), key)).toMatchObject(
      refused('This Idempotency-Key was used with another request body.'),
    )
    expect(await stored()).toBe(padding)
  })
})

describe('large bodies with CRDT data', () => {
  const server = useServer(anyStore)

  test('[17.0.1] a map may have 50,000 keys', async () => {
    const { send, stored } = await sceneOn(server)
    const map = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, index]))
    expect(await send('add', 'map', JSON.stringify(map))).toMatchObject({ status: 200 })
    // Not `toEqual`, which is slow for 50,000 keys.
    expect(isDeepStrictEqual(await stored(), map)).toBe(true)
  }, 60_000)

  test('[17.0.1] a map may have 62 levels, but not 63, in a small body and in a large one', async () => {
    const nested = (levels: number, content: string) =>
      `${'['.repeat(levels)}${JSON.stringify(content)}${']'.repeat(levels)}`
    for (const content of ['small', padding]) {
      const { send } = await sceneOn(server)
      expect(await send('add', 'map', `{"a":${nested(61, content)}}`)).toMatchObject({ status: 200 })
      expect(await send('update', 'map', `{"a":${nested(62, content)}}`)).toMatchObject(
        refused('Request body must not nest deeper than 64 levels.'),
      )
    }
  })

  test('[0.7.10] the server drops keys of CRDT data that would reach a prototype', async () => {
    const { send, stored } = await sceneOn(server)
    const poison = '"__proto__":{"polluted":1},"\\u005f_proto__":2,"constructor":{"prototype":{"polluted":3}}'
    expect(await send('add', 'map', `{"a":"${padding}",${poison},"b":{${poison},"c":1}}`)).toMatchObject({
      status: 200,
    })
    expect(await stored()).toEqual({ a: padding, b: { c: 1 } })
  })

  test('[0.1.1] [0.7.2] [0.7.7] the server refuses large CRDT data that is not JSON, is nested too deep or cannot be stored', async () => {
    const { send, stored } = await sceneOn(server)
    const notJson = refused('Request body is not valid JSON.')
    expect(await send('add', 'map', `{"a":"${padding}",}`)).toMatchObject(notJson)
    expect(await send('add', 'array', `["${padding}"}`)).toMatchObject(notJson)
    expect(await send('add', 'text', `"${padding}" "x"`)).toMatchObject(notJson)
    expect(await send('add', 'text', `"${padding}\n"`)).toMatchObject(notJson)
    expect(await send('add', 'text', `"${padding}\\u0000"`)).toMatchObject(
      refused('Strings must not contain the NUL character.'),
    )
    expect(await send('add', 'array', `["${padding}\\ud800"]`)).toMatchObject(
      refused('Strings must not contain unpaired surrogates.'),
    )
    const deep = `${'['.repeat(63)}"${padding}"${']'.repeat(63)}`
    expect(await send('add', 'array', deep)).toMatchObject(
      refused('Request body must not nest deeper than 64 levels.'),
    )
    expect(await stored()).toBeUndefined()
  })

  test('[0.3] the server refuses large CRDT data that does not match its type', async () => {
    const { send } = await sceneOn(server)
    const string = `"${padding}"`
    const cases = [
      ['text', `[${string}]`, 'Data must be a string for type text.'],
      ['xml', `{"a":${string}}`, 'Data must be a string for type xml.'],
      ['map', `[${string}]`, 'Data must be an object for type map.'],
      ['map', string, 'Data must be an object for type map.'],
      ['array', `{"a":${string}}`, 'Data must be an array for type array.'],
    ] as const
    for (const [type, data, message] of cases)
      expect(await send('add', type, data)).toMatchObject(refused(message))
  })

  test('[0.7.10] the last value of a repeated key applies, also for large CRDT data', async () => {
    const { send, stored } = await sceneOn(server)
    expect(await send('add', 'text', `"${padding}","data":"last"`)).toMatchObject({ status: 200 })
    expect(await stored()).toBe('last')
    expect(await send('update', 'text', `1,"data":"${padding}"`)).toMatchObject({ status: 200 })
    expect(await stored()).toBe(padding)
    const { headers } = await sceneOn(server)
    const twice = `{"data":{"data":"${padding}"},"data":{"organizationId":"o1"}}`
    expect(await server.post('/v2/crdt/add', twice, headers)).toMatchObject(
      refused('Document ID is required.'),
    )
  })

  test('[0.7.1] [0.7.3] a body with CRDT data may exceed 1 MiB only by its CRDT data', async () => {
    const { headers } = await sceneOn(server)
    const megabyte = 'x'.repeat(1_100_000)
    const tooLarge = refused(
      'Request body is too large. Without CRDT data it must not have more than 1048576 bytes (LIMIT_BODY_BYTES).',
      413,
    )
    const fields = '"organizationId":"o1","documentId":"d1","editorId":"e1","type":"text"'
    const send = (more: string) => server.post('/v2/crdt/add', `{"data":{${fields},${more}}}`, headers)
    expect(await send(`"data":"x","other":"${megabyte}"`)).toMatchObject(tooLarge)
    expect(await send(`"d\\u0061ta":"${megabyte}"`)).toMatchObject(tooLarge)
    expect(await send(`"data":"${megabyte}"`)).toMatchObject({ status: 200 })
  })
})
