import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { storedLiveStates } from '../../support/data/live-documents.ts'

/** A body as JSON text, because `__proto__` in an object literal would set the prototype instead of a key. */
const evil = (merge: boolean) =>
  `{"organizationId":"o1","documentId":"d1","liveStateDataId":"player","merge":${merge},"data":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"nested":{"__proto__":{"polluted":1}},"toString":"x","ok":1}}`

describe.each(stores)('live state on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const documentRef = { organizationId: 'o1', documentId: 'd1' }
  const channel = { ...documentRef, liveStateDataId: 'player' }
  const done = {
    status: 200,
    body: {
      result: { status: 'success', message: 'Event broadcasted successfully.', data: { success: true } },
    },
  }

  /** Reads a live state from the store, because no operation returns it. */
  const find = async (tenant: given.Tenant, id = 'player') =>
    (await storedLiveStates(server, tenant, documentRef)).find((one) => one.liveStateDataId === id)?.data
  const post = ({ headers }: given.Tenant, body: unknown, version = 'v1') =>
    server.post(`/${version}/livestate/broadcast`, body, headers)

  test('[4.15] broadcast returns success and stores the value with its time and author', async () => {
    const { client, apiKey } = await given.tenant(server)
    const data = { isPlaying: true, nested: { list: [1, null, 'é😀'] } }
    const before = Date.now()
    expect(await client.liveState.broadcast({ ...channel, data })).toEqual({
      message: 'Event broadcasted successfully.',
      data: { success: true },
    })
    const stored = {
      id: hash('sha256', 'player', 'hex').slice(0, 32),
      liveStateDataId: 'player',
      data,
      lastUpdated: expect.any(Number),
      updatedBy: { userId: 'rest-api' },
    }
    const found = await storedLiveStates(server, { apiKey }, documentRef)
    expect(found).toEqual([stored])
    expect(found[0]!.lastUpdated).toBeGreaterThanOrEqual(before)
  })

  test.each(['v1', 'v2'])(
    '[4.15] broadcast under %s accepts the fields inside data and at the top level',
    async (version) => {
      const tenant = await given.tenant(server)
      expect(await post(tenant, { data: { ...channel, data: { wrapped: 1 } } }, version)).toMatchObject(done)
      expect(await find(tenant)).toEqual({ wrapped: 1 })
      expect(await post(tenant, { ...channel, data: { flat: 2 }, merge: true }, version)).toMatchObject(done)
      expect(await find(tenant)).toEqual({ wrapped: 1, flat: 2 })
      expect(await post(tenant, { ...channel, data: { flat: 3 } }, version)).toMatchObject(done)
      expect(await find(tenant)).toEqual({ flat: 3 })
    },
  )

  test('[16.1] if one of the three ids is at the top level, all fields are read from the top level', async () => {
    const tenant = await given.tenant(server)
    const inner = { ...channel, data: {} }
    const faults: [unknown, string][] = [
      [{ organizationId: 'o1', data: inner }, 'documentId is required.'],
      [{ documentId: 'd1', data: inner }, 'organizationId is required.'],
      [{ liveStateDataId: 'player', data: inner }, 'organizationId is required.'],
      [{ merge: true, data: { data: {} } }, 'organizationId is required.'],
    ]
    for (const [body, message] of faults) {
      expect(await post(tenant, body)).toMatchObject({
        status: 400,
        body: { error: { status: 'INVALID_ARGUMENT', message } },
      })
    }
    // Without an id at the top level, other keys beside `data` are ignored.
    expect(await post(tenant, { merge: true, data: { ...channel, data: { a: 1 } } })).toMatchObject(done)
    // The payload may look like a request.
    expect(await post(tenant, { ...channel, data: inner })).toMatchObject(done)
    expect(await find(tenant)).toEqual(inner)
  })

  test('[4.15] [16.1.1] merge replaces the sent keys at the top level of the value, and without merge the value is replaced', async () => {
    const tenant = await given.tenant(server)
    const { client } = tenant
    await client.liveState.broadcast({ ...channel, data: { a: { x: 1 }, b: 1 }, merge: true })
    expect(await find(tenant)).toEqual({ a: { x: 1 }, b: 1 })
    await client.liveState.broadcast({ ...channel, data: { a: { y: 2 }, c: null }, merge: true })
    expect(await find(tenant)).toEqual({ a: { y: 2 }, b: 1, c: null })
    await client.liveState.broadcast({ ...channel, data: { d: 1 }, merge: false })
    expect(await find(tenant)).toEqual({ d: 1 })
    await client.liveState.broadcast({ ...channel, data: {}, merge: true })
    expect(await find(tenant)).toEqual({ d: 1 })
    await client.liveState.broadcast({ ...channel, data: {} })
    expect(await find(tenant)).toEqual({})
  })

  test('[0.7.10] [0.6.3] keys that would reach a prototype are dropped, toString is an ordinary key, and __proto__ is an ordinary id', async () => {
    const tenant = await given.tenant(server)
    for (const merge of [false, true, true]) {
      expect(await post(tenant, evil(merge))).toMatchObject(done)
      const data = await find(tenant)
      expect(data).toEqual({ nested: {}, toString: 'x', ok: 1 })
      expect(Object.keys(data!).sort()).toEqual(['nested', 'ok', 'toString'])
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    await tenant.client.liveState.broadcast({ ...channel, liveStateDataId: '__proto__', data: { a: 1 } })
    expect(await find(tenant, '__proto__')).toEqual({ a: 1 })
  })

  test('[4.15] [0.3] broadcast refuses invalid fields, inside data and at the top level, and changes nothing', async () => {
    const tenant = await given.tenant(server)
    await tenant.client.liveState.broadcast({ ...channel, data: { a: 1 } })
    const faults: [Record<string, unknown>, string][] = [
      [{ ...channel, organizationId: undefined, data: {} }, 'organizationId is required.'],
      [{ ...channel, organizationId: ' ', data: {} }, 'organizationId is required.'],
      [{ ...channel, documentId: undefined, data: {} }, 'documentId is required.'],
      [{ ...channel, documentId: 1, data: {} }, 'documentId must be a string.'],
      [{ ...channel, liveStateDataId: undefined, data: {} }, 'liveStateDataId is required.'],
      [{ ...channel, liveStateDataId: '', data: {} }, 'liveStateDataId is required.'],
      [channel, 'data is required.'],
      [{ ...channel, data: [] }, 'data must be an object.'],
      [{ ...channel, data: null }, 'data must be an object.'],
      [{ ...channel, data: 'x' }, 'data must be an object.'],
      [{ ...channel, data: {}, merge: 'yes' }, 'merge must be a boolean.'],
    ]
    for (const [fields, message] of faults) {
      const refused = { status: 400, body: { error: { status: 'INVALID_ARGUMENT', message } } }
      expect(await post(tenant, fields)).toMatchObject(refused)
      expect(await post(tenant, { data: fields })).toMatchObject(refused)
    }
    for (const body of [{}, { data: 'x' }, { merge: true }, []]) {
      expect(await post(tenant, body)).toMatchObject({
        status: 400,
        body: { error: { message: 'data is required.' } },
      })
    }
    expect(await find(tenant)).toEqual({ a: 1 })
  })

  test('[16.1.2] merging can grow a value to 1 MiB of JSON and not beyond', async () => {
    const tenant = await given.tenant(server)
    const refused = {
      status: 400,
      body: { error: { status: 'INVALID_ARGUMENT', message: 'Live state must not be larger than 1 MiB.' } },
    }
    const half = 'é'.repeat(256 * 1024)
    await tenant.client.liveState.broadcast({ ...channel, data: { a: half } })
    expect(await post(tenant, { ...channel, data: { b: half }, merge: true })).toMatchObject(refused)
    expect(await find(tenant)).toEqual({ a: half })
    const rest = 'x'.repeat(1024 * 1024 - 512 * 1024 - '{"a":"","b":""}'.length)
    expect(await post(tenant, { ...channel, data: { b: `${rest}x` }, merge: true })).toMatchObject(refused)
    expect(await post(tenant, { ...channel, data: { b: rest }, merge: true })).toMatchObject(done)
    expect(JSON.stringify(await find(tenant)).length).toBe(1024 * 1024 - 256 * 1024)
  })

  test('[0.7.1] the server refuses a body above 1 MiB', async () => {
    const tenant = await given.tenant(server)
    expect(await post(tenant, { ...channel, data: { a: 'x'.repeat(1024 * 1024) } })).toMatchObject({
      status: 413,
      body: {
        error: {
          status: 'INVALID_ARGUMENT',
          message: 'Request body is too large. It must not have more than 1048576 bytes (LIMIT_BODY_BYTES).',
        },
      },
    })
  })

  test('[16.1.1] concurrent merges into a live state that does not exist yet are all stored', async () => {
    const tenant = await given.tenant(server)
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`)
    const client = server.client({ ...tenant, retries: 5 })
    await Promise.all(
      keys.map((key) => client.liveState.broadcast({ ...channel, data: { [key]: 1 }, merge: true })),
    )
    expect(await find(tenant)).toEqual(Object.fromEntries(keys.map((key) => [key, 1])))
  })

  test('[16.1] [0.8] broadcast creates the organization and document, and ids, documents, organizations and API keys have separate live states', async () => {
    const [one, other] = [await given.tenant(server), await given.tenant(server)]
    await one.client.liveState.broadcast({ ...channel, data: { a: 1 } })
    await one.client.liveState.broadcast({ ...channel, liveStateDataId: 'cursor', data: { b: 1 } })
    await one.client.liveState.broadcast({ ...channel, documentId: 'd2', data: { c: 1 } })
    await one.client.liveState.broadcast({ ...channel, organizationId: 'o2', data: { d: 1 } })
    await other.client.liveState.broadcast({ ...channel, data: { e: 1 }, merge: true })
    const values = async (tenant: given.Tenant, organizationId: string, documentId: string) =>
      (await storedLiveStates(server, tenant, { organizationId, documentId })).map(({ data }) => data)
    expect(await values(one, 'o1', 'd1')).toEqual([{ b: 1 }, { a: 1 }])
    expect(await values(one, 'o1', 'd2')).toEqual([{ c: 1 }])
    expect(await values(one, 'o2', 'd1')).toEqual([{ d: 1 }])
    expect(await values(other, 'o1', 'd1')).toEqual([{ e: 1 }])
    expect((await one.client.organizations.get()).data.map((one) => one.id).sort()).toEqual(['o1', 'o2'])
    await one.client.organizations.delete({ organizationIds: ['o1'] })
    expect(await values(one, 'o1', 'd1')).toEqual([])
    expect(await values(other, 'o1', 'd1')).toEqual([{ e: 1 }])
  })

  test('[R21] concurrent changes get distinct numbers', async () => {
    const tenant = await given.tenant(server)
    const client = server.client({ ...tenant, retries: 5 })
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`)
    await Promise.all(
      names.map((liveStateDataId) => client.liveState.broadcast({ ...channel, liveStateDataId, data: {} })),
    )
    const rows = await server.database.read
      .selectFrom('live_states')
      .select('seq')
      .where('api_key', '=', tenant.apiKey)
      .orderBy('seq')
      .execute()
    expect(rows.map((row) => row.seq)).toEqual(names.map((_, index) => index + 1))
  })
})
