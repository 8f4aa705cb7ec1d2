import { afterEach, describe, expect, test } from 'vitest'
import { endingIn } from '../../support/access/probe.ts'
import { RawYjs } from '../../support/clients/raw-yjs.ts'
import { dialects, rawClient, sendsRole } from '../../support/clients/raw-clients.ts'
import { RawRealtime } from '../../support/clients/raw-realtime.ts'
import * as given from '../../support/given.ts'
import { anyStore, useServer } from '../../support/harness.ts'
import { allowLoopback, type TestProvider, useProvider } from '../../support/receivers/permission-provider.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { wordUpdate } from '../../support/random/words.ts'

const documentRef = { organizationId: 'org_1', documentId: 'doc_1' }
const deniedReason = 'The permission provider denies access.'
const denied = { code: 4403, reason: deniedReason }
const notAnswered = { code: 4503, reason: 'The permission provider did not answer in time. Connect again.' }
const minute = 60_000

describe('a permission provider and live clients', () => {
  const server = useServer(anyStore, { env: allowLoopback })

  afterEach(() => {
    server.clock.offsetMs = 0
  })

  const now = () => Date.now() + server.clock.offsetMs

  async function scene() {
    const tenant = await given.tenant(server)
    const provider = await useProvider(tenant)
    // Each server asks the provider for itself.
    const open = async (userId = 'ada', editorId = 'note') =>
      new RawRealtime(server.one, { ...documentRef, editorId, token: await tokenFor(tenant, userId) })
    return { tenant, provider, open }
  }

  /** Lets time pass, and returns how the session ends. */
  async function endingAfter(client: RawRealtime, ms: number) {
    server.clock.offsetMs += ms
    return client.ended
  }

  test('[25.4.2] [7.8.1] a user whom the provider allows opens and changes a document, with one request', async () => {
    const { tenant, provider, open } = await scene()
    await tenant.client.folders.add({
      organizationId: 'org_1',
      createOrganization: true,
      folders: [{ folderId: 'f1' }],
    })
    await tenant.client.documents.add({
      organizationId: 'org_1',
      folderId: 'f1',
      documents: [{ documentId: 'doc_1', accessType: 'restricted' }],
    })
    const ada = await open()
    expect(await ada.opened()).toEqual({ role: 'editor' })
    expect(await ada.update(wordUpdate('hello'))).toBe('saved')
    expect(await (await open('ada', 'other')).opened()).toEqual({ role: 'editor' })
    expect(provider.calls).toHaveLength(1)
    expect(provider.calls[0]?.headers.authorization).toBe('Bearer token-of-the-provider')
    expect(provider.calls[0]?.headers['content-type']).toBe('application/json')
    const resource = {
      id: 'doc_1',
      type: 'document',
      source: 'setDocuments',
      organizationId: 'org_1',
      parentFolderId: 'f1',
    }
    expect(provider.asked).toEqual([{ userId: 'ada', resource }])
  })

  test('[25.4.2] in every dialect, the provider makes a user a viewer, and denies another one despite a grant', async () => {
    const { tenant, provider } = await scene()
    await given.document(tenant)
    provider.decide = ({ userId }) =>
      userId === 'ada' ? { hasAccess: true, accessRole: 'viewer' } : { hasAccess: false }
    const resources = [{ type: 'document', id: 'doc_1', organizationId: 'org_1' } as const]
    await tenant.client.permissions.add({ user: { userId: 'bob' }, permissions: { resources } })
    const tokens = {
      ada: await tokenFor(tenant, 'ada', { resources }),
      bob: await tokenFor(tenant, 'bob', { resources }),
    }
    for (const dialect of dialects) {
      const target = { ...documentRef, editorId: dialect }
      const ada = rawClient(server, dialect, { ...target, token: tokens.ada })
      expect(await ada.opened()).toEqual(sendsRole(dialect) ? { role: 'viewer' } : {})
      expect(await ada.update(wordUpdate('forged'))).toBe('refused')
      const bob = rawClient(server, dialect, { ...target, token: tokens.bob })
      expect(await bob.ended).toEqual(endingIn(dialect, denied.code, denied.reason))
    }
    expect(provider.asked).toHaveLength(2)
    expect(provider.asked[0]?.resource).not.toHaveProperty('parentFolderId')
  })

  test('[25.4.2] a user who is denied creates no document, and a backend needs no answer', async () => {
    const { tenant, provider, open } = await scene()
    provider.decide = () => ({ hasAccess: false })
    expect(await (await open()).ended).toEqual(denied)
    const { data } = await tenant.client.documents.get({ organizationId: 'org_1' })
    expect(data).toEqual([])
    const backend = new RawYjs(server, { ...documentRef, editorId: 'note', headers: tenant.headers })
    expect(await backend.opened()).toEqual({})
    expect(await backend.update(wordUpdate('hello'))).toBe('saved')
    await tenant.client.documents.updateDisableState({
      organizationId: 'org_1',
      documentIds: ['doc_1'],
      disabled: true,
    })
    provider.decide = () => ({ hasAccess: true })
    expect(await (await open('bob')).ended).toMatchObject({ code: 4403, reason: /disabled/ })
  })

  const faults: [title: string, spoil: (provider: TestProvider) => void][] = [
    ['has no entry for the user', (provider) => void (provider.decide = () => undefined)],
    [
      'is about another document',
      (provider) => {
        const { respond } = provider
        provider.respond = (response, call) => {
          const requests = call.requests.map(({ userId, resource }) => ({
            userId,
            resource: { ...resource, id: 'doc_2' },
          }))
          respond(response, { ...call, requests })
        }
      },
    ],
    ['is garbage', (provider) => void (provider.respond = (response) => response.end('{"data":true}'))],
    ['is a redirect', (provider) => void (provider.respond = (response) => redirect(response, provider.url))],
    ['has more than 1 MiB', (provider) => void (provider.respond = (response) => sendMuch(response))],
    ['expired before', (provider) => void (provider.decide = () => ({ hasAccess: true, expiresAt: 1 }))],
  ]
  test.each(faults)(
    '[7.8.2] [7.8.4] an answer that %s denies, and the provider is not asked again at once',
    async (_, spoil) => {
      const { provider, open } = await scene()
      spoil(provider)
      for (const _ of [1, 2]) expect(await (await open()).ended).toEqual(denied)
      expect(provider.calls).toHaveLength(1)
    },
  )

  test('[7.8.3] a signature of Generate Signature is accepted, and another one denies', async () => {
    const { tenant, provider, open } = await scene()
    let isSigned = true
    provider.respond = async (response, { requests }) => {
      const permissions = provider.entriesFor(requests) as never
      const { signature } = (await tenant.client.auth.generateSignature({ permissions })).data
      const answer = provider.answerTo(requests)
      response.end(JSON.stringify({ ...answer, signature: isSigned ? signature : 'f'.repeat(64) }))
    }
    expect(await (await open()).opened()).toEqual({ role: 'editor' })
    isSigned = false
    expect(await (await open('bob')).ended).toEqual(denied)
  })

  test('[7.8.5] [R9] an open client is closed within a second of the end of its answer if the next one denies', async () => {
    const { provider, open } = await scene()
    provider.decide = () => ({ hasAccess: true, expiresAt: now() + 30 * minute })
    const ada = await open()
    expect(await ada.opened()).toEqual({ role: 'editor' })
    provider.decide = () => ({ hasAccess: false })
    server.clock.offsetMs += 29 * minute
    expect(await ada.update(wordUpdate('early'))).toBe('saved')
    expect(provider.calls).toHaveLength(1)
    expect(await endingAfter(ada, minute)).toEqual(denied)
  })

  test('[7.8.5] [R9.2] after 10 minutes an answer without expiry is renewed, here with a lesser role', async () => {
    const { provider, open } = await scene()
    const ada = await open()
    expect(await ada.opened()).toEqual({ role: 'editor' })
    provider.decide = () => ({ hasAccess: true, accessRole: 'viewer' })
    server.clock.offsetMs += 10 * minute
    expect(await ada.update(wordUpdate('late'))).toBe('refused')
    expect(ada.roles).toEqual(['editor', 'viewer'])
    expect(ada.ending).toBeUndefined()
    expect(provider.calls).toHaveLength(2)
  })

  test('[7.8.6] the next answer is requested before the answer ends, so a slow provider interrupts nobody', async () => {
    const { provider, open } = await scene()
    const ada = await open()
    await ada.opened()
    let answer = () => {}
    const { respond } = provider
    provider.respond = (...call) => void (answer = () => respond(...call))
    server.clock.offsetMs += 10 * minute - 30_000
    expect(await ada.update(wordUpdate('early'))).toBe('saved')
    await expect.poll(() => provider.calls.length).toBe(2)
    // The provider has not answered yet, and the previous answer still applies.
    expect(await ada.update(wordUpdate('meanwhile'))).toBe('saved')
    answer()
    // The next answer is remembered when it lets another client of the user in.
    server.clock.offsetMs += 30_000
    expect(await (await open('ada', 'other')).opened()).toEqual({ role: 'editor' })
    expect(await ada.update(wordUpdate('late'))).toBe('saved')
    expect(provider.calls).toHaveLength(2)
  })

  test('[R9.5] a client whose answer ended while the provider does not answer is closed within a second, and can reconnect', async () => {
    const { provider, open } = await scene()
    const ada = await open()
    await ada.opened()
    const { respond } = provider
    let answer = () => {}
    provider.respond = (...call) => void (answer = () => respond(...call))
    expect(await endingAfter(ada, 10 * minute)).toEqual(notAnswered)
    const again = await open()
    answer()
    expect(await again.opened()).toEqual({ role: 'editor' })
  })

  test('[R9.4] a client that waits for the provider delays no other client of the document', async () => {
    const { tenant, provider, open } = await scene()
    const ada = await open('ada')
    await ada.opened()
    const { respond } = provider
    let answer = () => {}
    provider.respond = (...call) => void (answer = () => respond(...call))
    const bob = await open('bob')
    await expect.poll(() => provider.calls.length).toBe(2)
    // A change of access makes all decisions stale.
    await tenant.client.documents.updateAccess({
      organizationId: 'org_1',
      documentIds: ['doc_1'],
      accessType: 'restricted',
    })
    expect(await ada.update(wordUpdate('hello'))).toBe('saved')
    expect(bob.roles).toEqual([])
    answer()
    expect(await bob.opened()).toEqual({ role: 'editor' })
    expect(await bob.read()).toContain('hello')
  })

  test('[7.8.5] a change of the settings drops the answers and applies to open clients at once', async () => {
    const { tenant, provider, open } = await scene()
    const { permissionProviderConfig } = tenant.client
    const ada = await open()
    await ada.opened()
    provider.decide = () => ({ hasAccess: true, accessRole: 'viewer' })
    await permissionProviderConfig.update({ permissionProviderConfig: { authToken: 'another-token' } })
    expect(await ada.update(wordUpdate('late'))).toBe('refused')
    expect(provider.calls.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-of-the-provider',
      'Bearer another-token',
    ])
    await permissionProviderConfig.update({ usePermissionProvider: false })
    expect(await ada.update(wordUpdate('public'))).toBe('saved')
    await permissionProviderConfig.update({
      usePermissionProvider: true,
      permissionProviderConfig: { permissionProviderUrl: '' },
    })
    expect(await ada.ended).toEqual(denied)
  })

  test('[R9.4] a client that waits for the provider gets access when the provider is turned off', async () => {
    const { tenant, provider, open } = await scene()
    provider.respond = () => {}
    const ada = await open()
    await expect.poll(() => provider.calls.length).toBe(1)
    await tenant.client.permissionProviderConfig.update({ usePermissionProvider: false })
    expect(await ada.opened()).toEqual({ role: 'editor' })
  })

  test('[7.8.5] the answer to one user or API key is not used for another', async () => {
    const one = await scene()
    const other = await scene()
    one.provider.decide = ({ userId }) => ({ hasAccess: userId === 'ada' })
    other.provider.decide = ({ userId }) => ({ hasAccess: userId === 'bob' })
    for (const { open } of [one, one]) expect(await (await open('ada')).opened()).toEqual({ role: 'editor' })
    expect(await (await one.open('bob')).ended).toEqual(denied)
    expect(await (await other.open('ada')).ended).toEqual(denied)
    expect(await (await other.open('bob')).opened()).toEqual({ role: 'editor' })
  })
})

const redirect = (response: Parameters<TestProvider['respond']>[0], location: string) =>
  response.writeHead(307, { location }).end()

const sendMuch = (response: Parameters<TestProvider['respond']>[0]) =>
  response.end(`{"data":[],"success":true,"statusCode":200,"message":"${'x'.repeat(1024 * 1024)}"}`)
