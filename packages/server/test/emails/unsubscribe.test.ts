import { sql } from 'kysely'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createUnsubscribeToken, unsubscribeUrl } from '../../src/deliveries/emails/unsubscribe-tokens.ts'
import * as given from '../support/given.ts'
import { stores, useServer } from '../support/harness.ts'

const organizationId = 'org_1'
const oneClick = 'List-Unsubscribe=One-Click'
const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe.each(stores)('unsubscribing on %s', (store) => {
  const server = useServer(store)
  let tenant: given.Tenant
  beforeAll(async () => {
    tenant = await given.tenant(server)
    await tenant.client.organizations.add({
      organizations: [{ organizationId, organizationName: 'Acme <b>& Sons</b>' }],
    })
    for (const documentId of ['doc_1', 'doc_2']) await given.document(tenant, documentId)
    await tenant.client.users.add({
      organizationId,
      users: ['grace', 'alan'].map((userId) => ({ userId, email: `${userId}@example.com` })),
    })
  })
  afterEach(() =>
    server.database.write(async (db) => {
      await sql`delete from notification_configs where api_key = ${tenant.apiKey}`.execute(db)
    }),
  )

  const linkOf = (userId = 'grace') => {
    const target = { apiKey: tenant.apiKey, organizationId, documentId: 'doc_1', userId }
    return unsubscribeUrl(server.url, server.secrets, target) ?? ''
  }
  const post = (body: string, headers: Record<string, string> = form, link = linkOf()) =>
    fetch(link, { method: 'POST', headers, body, redirect: 'error' })
  /** The email preferences: of the organization, of doc_1 and of doc_2. */
  const preferences = async (userId = 'grace') => {
    const read = async (input: { documentIds?: string[]; getOrganizationConfig?: boolean }) =>
      (await tenant.client.notifications.getConfig({ organizationId, userId, ...input })).data.map(
        ({ config }) => config.email,
      )
    return [
      ...(await read({ getOrganizationConfig: true })),
      ...(await read({ documentIds: ['doc_1', 'doc_2'] })),
    ]
  }

  test('[3.5] the page names the organization and the masked address, and changes nothing', async () => {
    const response = await fetch(linkOf())
    const page = await response.text()
    expect(response.status).toBe(200)
    expect(page).toContain('g…@example.com')
    expect(page).not.toContain('grace@')
    expect(page).toContain('No emails from Acme &lt;b&gt;&amp; Sons&lt;/b&gt; any more')
    expect(page).not.toContain('<b>')
    expect(page.match(/<button /g)).toHaveLength(3)
    expect(await preferences()).toEqual(['ALL', 'ALL', 'ALL'])
  })

  test('[3.5.3] the page is not cached, not framed, runs no script, and its address is passed to no other site', async () => {
    const { headers } = await fetch(linkOf())
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    expect(headers.get('set-cookie')).toBeNull()
  })

  test.each([
    ['mine', ['ALL', 'MINE', 'ALL'], 'only about what involves you'],
    ['document', ['ALL', 'NONE', 'ALL'], 'no more emails about this document'],
    ['organization', ['NONE', 'NONE', 'NONE'], 'no more emails from Acme'],
  ])(
    '[3.5] the choice %s is stored, confirmed, and can be taken back',
    async (choice, expected, confirmation) => {
      const response = await post(`choice=${choice}`)
      const page = await response.text()
      expect(response.status).toBe(200)
      expect(page).toContain(confirmation)
      expect(await preferences()).toEqual(expected)
      expect(await preferences('alan')).toEqual(['ALL', 'ALL', 'ALL'])
      const undo = /value="(allOf\w+)"/.exec(page)?.[1] ?? ''
      await post(`choice=${undo}`)
      expect(await preferences()).toEqual(['ALL', 'ALL', 'ALL'])
    },
  )

  test('[3.5.1] unsubscribing from an organization replaces the choices for its documents, however many, and keeps other channels', async () => {
    const documentIds = Array.from({ length: 250 }, (_, index) => `many_${index}`)
    const set = (config: Record<string, 'ALL' | 'MINE' | 'NONE'>, ids: string[]) =>
      tenant.client.notifications.setConfig({
        organizationId,
        userIds: ['grace', 'alan'],
        documentIds: ids,
        config,
      })
    await set({ email: 'ALL', inbox: 'MINE' }, ['doc_1'])
    await set({ email: 'MINE' }, ['doc_2'])
    for (const start of [0, 30, 60, 90, 120, 150, 180, 210, 240]) {
      await set({ email: 'ALL' }, documentIds.slice(start, start + 30))
    }
    expect((await post(oneClick)).status).toBe(200)
    expect(await preferences()).toEqual(['NONE', 'NONE', 'NONE'])
    const read = async (userId: string, ids: string[]) =>
      (await tenant.client.notifications.getConfig({ organizationId, userId, documentIds: ids })).data
    expect((await read('grace', documentIds.slice(-30))).map(({ config }) => config.email)).toEqual(
      Array.from({ length: 30 }, () => 'NONE'),
    )
    expect(await read('grace', ['doc_1'])).toMatchObject([{ config: { inbox: 'MINE', email: 'NONE' } }])
    expect(await read('alan', ['doc_1'])).toMatchObject([{ config: { inbox: 'MINE', email: 'ALL' } }])
  })

  test.each([
    ['urlencoded', oneClick, form],
    [
      'multipart',
      '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
      { 'content-type': 'multipart/form-data; boundary=x' },
    ],
  ])(
    '[3.5.2] one click of a mail program unsubscribes from the organization: %s',
    async (_kind, body, headers) => {
      const response = await post(body, headers)
      expect(response.status).toBe(200)
      expect(response.headers.get('set-cookie')).toBeNull()
      expect(await preferences()).toEqual(['NONE', 'NONE', 'NONE'])
    },
  )

  test.each(['', 'choice=', 'choice=everything', 'choice=__proto__', 'List-Unsubscribe=Two-Clicks', '{}'])(
    '[3.5] a form with %j changes nothing',
    async (body) => {
      expect((await post(body)).status).toBe(400)
      expect(await preferences()).toEqual(['ALL', 'ALL', 'ALL'])
    },
  )

  test('[3.5.3] a token that was changed, belongs to another server, or names a deleted user is refused', async () => {
    const target = { apiKey: tenant.apiKey, organizationId, documentId: 'doc_1', userId: 'grace' }
    const token = createUnsubscribeToken(server.secrets, target) ?? ''
    const [content = '', signature = ''] = token.split('.')
    const forAlan = createUnsubscribeToken(server.secrets, { ...target, userId: 'alan' }) ?? ''
    const invalid = [
      'x',
      '.',
      content,
      `${content}.`,
      `.${signature}`,
      `${content}.${signature.slice(1)}`,
      `${content}.${signature}.x`,
      `${forAlan.split('.')[0]}.${signature}`,
      `${content}.${createUnsubscribeToken({ unsubscribeKey: Buffer.alloc(32) }, target)?.split('.')[1]}`,
      'x'.repeat(5000),
      createUnsubscribeToken(server.secrets, { ...target, userId: 'nobody' }) ?? '',
      createUnsubscribeToken(server.secrets, { ...target, apiKey: 'key_other' }) ?? '',
    ]
    for (const one of invalid) {
      const link = `${server.url}/unsubscribe/${one}`
      expect([one, (await fetch(link)).status]).toEqual([one, 404])
      expect([one, (await post(oneClick, form, link)).status]).toEqual([one, 404])
    }
    expect(await preferences()).toEqual(['ALL', 'ALL', 'ALL'])
    expect((await fetch(`${server.url}/unsubscribe/${token}`)).status).toBe(200)
  })

  test('[3.5.3] a body above 4 KB is refused', async () => {
    expect((await post(`choice=${'x'.repeat(5000)}`)).status).toBe(413)
  })
})

test('[3.5.3] a link fits into a header, or there is none', () => {
  const secrets = { unsubscribeKey: Buffer.alloc(32) }
  const target = (length: number) => ({
    apiKey: 'key_1b8d3q6z5w4f0m2k7c9x',
    organizationId: 'o'.repeat(length),
    documentId: 'd'.repeat(length),
    userId: 'u'.repeat(length),
  })
  expect(unsubscribeUrl('https://plenum.example.com', secrets, target(150))?.length).toBeLessThan(950)
  expect(unsubscribeUrl('https://plenum.example.com', secrets, target(256))).toBeUndefined()
})
