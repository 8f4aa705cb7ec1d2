import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'

const refused = (message: string) => ({
  status: 400,
  body: { error: { status: 'INVALID_ARGUMENT', message } },
})
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

describe.each(stores)('[0.7] bodies on %s', (store) => {
  const server = useServer(store)
  let tenant: given.Tenant
  beforeAll(async () => {
    tenant = await given.tenant(server)
  })

  async function send(path: string, body: BodyInit, headers: Record<string, string> = {}) {
    const response = await fetch(`${server.url}/v2${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...tenant.headers, ...headers },
      body,
    })
    return { status: response.status, body: await response.json() }
  }
  /** Adds an organization with these fields as JSON text, and reads it back without the fields that every organization has. */
  async function stored(organizationId: string, fields: string) {
    const [one] = await storedTogether([[organizationId, fields]])
    return one
  }

  async function storedTogether(organizations: readonly [organizationId: string, fields: string][]) {
    const texts = organizations.map(([id, fields]) => `{"organizationId":"${id}",${fields}}`)
    const { status } = await send('/organizations/add', `{"data":{"organizations":[${texts.join()}]}}`)
    expect(status).toBe(200)
    const organizationIds = organizations.map(([id]) => id)
    const { data } = await tenant.client.organizations.get({ organizationIds })
    return data.map(({ id, organizationName, disabled: _, createdAt: __, lastUpdated: ___, ...rest }) =>
      organizationName === id ? rest : { organizationName, ...rest },
    )
  }

  /** Twenty organizations that share the limit of a body, because one organization may store only 16 KiB. */
  const shared = (prefix: string, fields: string) =>
    Array.from({ length: 20 }, (_, index): [string, string] => [`${prefix}${index + 10}`, fields])

  test('[0.7.2] the server stores JSON of 64 levels, refuses 65 and a million levels, and answers other requests meanwhile', async () => {
    const tooDeep = refused('Request body must not nest deeper than 64 levels.')
    // The body has four levels around the value.
    expect(await stored('deep', `"x":${nested(60)}`)).toEqual({ x: JSON.parse(nested(60)) })
    const add = (value: string) =>
      send('/organizations/add', `{"data":{"organizations":[{"organizationId":"no","x":${value}}]}}`)
    expect(await add(nested(61))).toEqual(tooDeep)
    const { data } = await tenant.client.organizations.get({ organizationIds: ['no'] })
    expect(data).toEqual([])
    // Brackets inside strings are not levels.
    expect(await stored('text', `"x":"${'['.repeat(100)}\\"{"`)).toEqual({ x: `${'['.repeat(100)}"{` })

    const others = Array.from({ length: 5 }, () =>
      tenant.client.organizations.get({ organizationIds: ['text'] }),
    )
    const deepest = ['['.repeat(1_000_000), '{"a":'.repeat(200_000), nested(500_000)]
    expect(await Promise.all(deepest.map((body) => send('/organizations/add', body)))).toEqual(
      deepest.map(() => tooDeep),
    )
    for (const { data } of await Promise.all(others)) expect(data).toHaveLength(1)
  })

  test('[0.7.10] the last value of a repeated key applies', async () => {
    expect(
      await stored('twice', '"organizationName":"first","x":1,"x":{"y":2,"y":3},"organizationName":"last"'),
    ).toEqual({
      organizationName: 'last',
      x: { y: 3 },
    })
    const { body } = await send('/organizations/get', '{"data":5,"data":{"organizationIds":["twice"]}}')
    expect(body.result.data).toHaveLength(1)
  })

  test('[0.7.10] the server drops keys at any depth that would reach a prototype', async () => {
    const poison = '"__proto__":{"polluted":1},"\\u005f_proto__":{"polluted":2}'
    const chain = '"constructor":{"prototype":{"polluted":3}}'
    expect(await stored('poison', `${poison},${chain},"x":{${poison},"list":[{${chain},"y":1}]}`)).toEqual({
      x: { list: [{ y: 1 }] },
    })
    // `constructor` without `prototype` inside is an ordinary key.
    expect(
      await stored('builder', '"constructor":"Acme","toString":1,"hasOwnProperty":{"constructor":null}'),
    ).toEqual({
      constructor: 'Acme',
      toString: 1,
      hasOwnProperty: { constructor: null },
    })
    await tenant.client.organizations.update({
      organizations: [{ organizationId: 'poison', constructor: 'x' }],
    })
    expect(
      (await send('/organizations/get', `{"data":{${poison},"organizationIds":["poison"]},${poison}}`))
        .status,
    ).toBe(200)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  /** The names are in the order in which lists return items that were created at the same time. */
  const names = [
    '__defineGetter__',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'prototype',
    'toString',
    'valueOf',
  ]
  const organizationId = 'constructor'
  /** Returns the result of each id as entries, because comparing objects might ignore keys such as `__proto__`. */
  const outcomes = async (call: Promise<{ data: unknown }>) =>
    Object.entries((await call).data as Record<string, { success: boolean }>).map(([id, { success }]) => [
      id,
      success,
    ])
  const all = (success: boolean) => names.map((name) => [name, success])

  test('[0.6.3] organizations and folders may have property names of JavaScript objects as ids', async () => {
    const { client } = tenant
    const organizations = names.map((organizationId) => ({
      organizationId,
      organizationName: `1 ${organizationId}`,
    }))
    const ids = { organizationIds: names }
    expect(await outcomes(client.organizations.update({ organizations }))).toEqual(all(false))
    expect(await outcomes(client.organizations.add({ organizations }))).toEqual(all(true))
    expect(await outcomes(client.organizations.update({ organizations }))).toEqual(all(true))
    const { data } = await client.organizations.get(ids)
    expect(data.map(({ id, organizationName }) => [id, organizationName])).toEqual(
      names.map((name) => [name, `1 ${name}`]),
    )

    const folders = names.map((folderId) => ({ folderId, folderName: folderId }))
    expect(await outcomes(client.folders.add({ organizationId, folders }))).toEqual(all(true))
    const found = await client.folders.get({ organizationId })
    expect(found.data.map(({ folderId }) => folderId)).toEqual(names)
    expect(await outcomes(client.folders.update({ organizationId, folders }))).toEqual(all(true))

    expect(await outcomes(client.organizations.delete(ids))).toEqual(all(true))
    expect(await outcomes(client.organizations.delete(ids))).toEqual(all(false))
    expect((await client.organizations.get(ids)).data).toEqual([])
  })

  test('[0.6.3] users, groups and documents may have property names of JavaScript objects as ids', async () => {
    const { client } = tenant
    await given.organization(tenant, organizationId)
    const users = names.map((userId) => ({ userId, name: `n ${userId}` }))
    expect(await outcomes(client.users.update({ organizationId, users }))).toEqual(all(false))
    expect(await outcomes(client.users.add({ organizationId, users }))).toEqual(all(true))
    expect(await outcomes(client.users.update({ organizationId, users }))).toEqual(all(true))
    const { data } = await client.users.get({ organizationId, userIds: names })
    expect((data as { userId?: string; name?: string }[]).map(({ userId, name }) => [userId, name])).toEqual(
      names.map((name) => [name, `n ${name}`]),
    )

    const groups = names.map((groupId) => ({ groupId, groupName: groupId }))
    expect(await outcomes(client.userGroups.add({ organizationId, organizationUserGroups: groups }))).toEqual(
      all(true),
    )
    const members = { organizationId, organizationUserGroupId: 'toString', userIds: names }
    expect(await outcomes(client.userGroups.addUsers(members))).toEqual(all(true))
    expect(await outcomes(client.users.delete({ organizationId, userIds: names }))).toEqual(all(true))
    expect(await outcomes(client.users.delete({ organizationId, userIds: names }))).toEqual(all(false))

    const documents = names.map((documentId) => ({ documentId, documentName: documentId }))
    const v1 = { version: 'v1' } as const
    expect(await outcomes(client.documents.add({ organizationId, documents }, v1))).toEqual(all(true))
    expect((await client.documents.get({ organizationId, documentIds: names })).data).toHaveLength(
      names.length,
    )
    expect(await outcomes(client.documents.delete({ organizationId, documentIds: names }, v1))).toEqual(
      all(true),
    )
  })

  test('[0.7.7] the server refuses strings that cannot be stored, and stores nothing of the request', async () => {
    const nul = refused('Strings must not contain the NUL character.')
    const surrogate = refused('Strings must not contain unpaired surrogates.')
    const add = (fields: string) => send('/organizations/add', `{"data":{"organizations":[{${fields}}]}}`)
    expect(await add('"organizationId":"a\\u0000b"')).toEqual(nul)
    expect(await add('"organizationId":"n","x":[{"a\\u0000":1}]')).toEqual(nul)
    expect(await add('"organizationId":"n\\ud800"')).toEqual(surrogate)
    expect(await add('"organizationId":"n","x":"\\uDE00\\uD83D"')).toEqual(surrogate)
    expect(await add('"organizationId":"n","x":{"\\udfff":1}')).toEqual(surrogate)
    expect(await add('"organizationId":"a\0b"')).toEqual(refused('Request body is not valid JSON.'))
    expect((await tenant.client.organizations.get({ organizationIds: ['n'] })).data).toEqual([])
    // Escaped backslashes and complete surrogate pairs are accepted.
    expect(await stored('escapes', '"x":"\\\\u0000 \\\\ud800 \\ud83d\\ude00 \\u2028"')).toEqual({
      x: '\\u0000 \\ud800 😀 \u2028',
    })
  })

  test('[0.7.2] brackets inside a string are not levels, whatever the length and the escapes of the string', async () => {
    for (const letters of [0, 62, 63, 64, 65, 200]) {
      const x = `${'x'.repeat(letters)}"${'[:'.repeat(4_000)}\\${'x'.repeat(letters)}\\"\\`
      const all = await storedTogether(shared(`strings${letters}_`, `"x":${JSON.stringify(x)},"y":1`))
      expect(all).toEqual(Array.from({ length: 20 }, () => ({ x, y: 1 })))
    }
    const unended = `{"data":{"x":"${'x'.repeat(100)}\\"`
    expect(await send('/organizations/add', unended)).toEqual(refused('Request body is not valid JSON.'))
  })

  test('[0.1.5] the server accepts UTF-8 bodies with or without a byte order mark, and refuses other encodings', async () => {
    const body = (name: string) =>
      Buffer.from(
        `{"data":{"organizations":[{"organizationId":"utf","organizationName":"${name}"}]}}`,
        'latin1',
      )
    expect(await send('/organizations/add', body('M\xfcller'))).toEqual(
      refused('Request body is not valid UTF-8.'),
    )
    expect(await send('/organizations/add', body('\xed\xa0\x80'))).toEqual(
      refused('Request body is not valid UTF-8.'),
    )
    expect((await send('/organizations/get', '\ufeff{"data":{}}')).status).toBe(200)
    expect(await send('/organizations/get', '\ufeff\ufeff{"data":{}}')).toEqual(
      refused('Request body is not valid JSON.'),
    )
    expect((await send('/organizations/get', Buffer.from('{"data":{}}', 'utf16le'))).status).toBe(400)
  })

  test('[0.1.5] the server refuses compressed bodies and names Content-Encoding as the reason', async () => {
    const packed = gzipSync('{"data":{}}')
    for (const encoding of ['gzip', 'br', 'deflate, gzip']) {
      expect(await send('/organizations/get', packed, { 'content-encoding': encoding })).toEqual(
        refused('Content-Encoding is not supported.'),
      )
    }
    expect((await send('/organizations/get', '{"data":{}}', { 'content-encoding': 'identity' })).status).toBe(
      200,
    )
  })

  test('[0.3] numbers too large for a double are stored as null in additional keys and refused as pageSize', async () => {
    const digits = '9'.repeat(100_000)
    // JSON has no infinity, so a number that is too large becomes null.
    expect(
      await stored('numbers', `"a":1e400,"b":-1e400,"c":1e-400,"d":${digits},"e":12345678901234567890`),
    ).toEqual({
      a: null,
      b: null,
      c: 0,
      d: null,
      e: 12345678901234567000,
    })
    for (const number of ['1e400', digits, '-1e400', '1e308', '9007199254740993']) {
      const { status, body } = await send('/organizations/get', `{"data":{"pageSize":${number}}}`)
      expect({ status, code: body.error?.status }).toEqual({ status: 400, code: 'INVALID_ARGUMENT' })
    }
  })

  test('[0.7.2] the server stores a body with almost 10,000 keys and refuses a body with more than 10,000', async () => {
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index.toString(36)}`, 1]))
    // Twenty organizations with 498 keys each, and the 22 keys around them, are 9,982 keys.
    const largest = fields(498)
    const all = await storedTogether(shared('keys', JSON.stringify(largest).slice(1, -1)))
    expect(all).toEqual(Array.from({ length: 20 }, () => largest))
    const inner = { items: Array.from({ length: 20 }, () => fields(500)) }
    for (const data of [fields(10_000), inner]) {
      const { status, body } = await send('/organizations/get', JSON.stringify({ data }))
      expect({ status, body }).toEqual({
        status: 400,
        body: {
          error: { status: 'INVALID_ARGUMENT', message: 'Request body must not have more than 10000 keys.' },
        },
      })
    }
  })

  test('[0.7.6] an organization, a document, a user or a notification stores at most 16 KiB, also after an update', async () => {
    const { client } = tenant
    const organizationId = await given.organization(tenant)
    const documentId = 'd1'
    const small = 'é'.repeat(8_000)
    const large = 'é'.repeat(8_200)
    const notification = { organizationId, documentId, actionUser: { userId: 'u1' }, notifyUsers: [] }
    const shown = { displayHeadlineMessageTemplate: 'x', displayBodyMessage: 'x' }
    const calls: [item: string, call: (text: string) => Promise<unknown>][] = [
      [
        'organization big',
        (x) => client.organizations.add({ organizations: [{ organizationId: 'big', x }] }),
      ],
      [
        `organization ${organizationId}`,
        (x) => client.organizations.update({ organizations: [{ organizationId, [x.slice(0, 10)]: x }] }),
      ],
      ['document d1', (x) => client.documents.add({ organizationId, documents: [{ documentId, x }] })],
      ['document d1', (x) => client.documents.update({ organizationId, documents: [{ documentId, x }] })],
      ['user u1', (x) => client.users.add({ organizationId, users: [{ userId: 'u1', x }] })],
      ['user u1', (x) => client.users.update({ organizationId, users: [{ userId: 'u1', x }] })],
      [
        'notification n1',
        (x) =>
          client.notifications.add({
            ...notification,
            ...shown,
            notificationId: 'n1',
            notificationSourceData: { x },
          }),
      ],
      [
        'notification n1',
        (x) =>
          client.notifications.update({
            organizationId,
            notifications: [{ id: 'n1', notificationSourceData: { x } }],
          }),
      ],
    ]
    for (const [item, call] of calls) {
      await expect(call(large)).rejects.toMatchObject({
        status: 'INVALID_ARGUMENT',
        message: expect.stringMatching(
          `^The data of ${item} would have 16[0-9]{3} bytes as JSON. At most 16384`,
        ),
      })
      await call(small)
    }
    const { data } = await client.documents.get({ organizationId, documentIds: [documentId] })
    expect(data[0]).toMatchObject({ x: small })
    const more = { documentId, y: 'y'.repeat(400) }
    await expect(client.documents.update({ organizationId, documents: [more] })).rejects.toMatchObject({
      status: 'INVALID_ARGUMENT',
    })
  })

  test('[0.7.2] the server stores a body with almost 50,000 strings, arrays and objects, refuses one with more than 50,000, and does not limit numbers', async () => {
    const list = (count: number) => Array.from({ length: count }, (_, index) => [[], 'x', {}][index % 3])
    const numbers = Array.from({ length: 3_000 }, (_, index) => index % 10)
    const largest = { x: list(2_490), numbers }
    const all = await storedTogether(shared('values', JSON.stringify(largest).slice(1, -1)))
    expect(all).toEqual(Array.from({ length: 20 }, () => largest))
    expect(await send('/organizations/get', JSON.stringify({ data: { x: list(50_000) } }))).toEqual(
      refused('Request body must not have more than 50000 strings, arrays and objects.'),
    )
  })
})
