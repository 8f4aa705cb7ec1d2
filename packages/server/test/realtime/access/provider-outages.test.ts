import { describe, expect, test } from 'vitest'
import { RawRealtime } from '../../support/clients/raw-realtime.ts'
import { RealtimeSocket } from '../../support/clients/realtime-socket.ts'
import * as given from '../../support/given.ts'
import { anyStore, stores, useServer } from '../../support/harness.ts'
import { allowLoopback, TestProvider, useProvider } from '../../support/receivers/permission-provider.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'
import { wordUpdate } from '../../support/random/words.ts'

const target = { organizationId: 'org_1', documentId: 'doc_1', editorId: 'note' }
const denied = { code: 4403, reason: 'The permission provider denies access.' }

describe.each(stores)('a permission provider that does not answer, on %s', (store) => {
  const server = useServer(store, { env: allowLoopback })

  const opening = async (tenant: given.Tenant, userId = 'ada') =>
    new RawRealtime(server, { ...target, token: await tokenFor(tenant, userId) })

  test('[7.8.7] [S1] a silent provider of one tenant delays no client and no call of another tenant', async () => {
    const [slow, quick, plain] = await Promise.all([1, 2, 3].map(() => given.tenant(server)))
    const silent = await useProvider(slow!)
    await slow!.client.notifications.add({
      organizationId: 'org_1',
      documentId: 'doc_3',
      createOrganization: true,
      createDocument: true,
      actionUser: { userId: 'actor' },
      displayHeadlineMessageTemplate: 'News',
      displayBodyMessage: 'News',
      notifyUsers: [{ userId: 'ada' }],
    })
    silent.respond = () => {}
    await useProvider(quick!)
    const waiting = await Promise.all(
      Array.from({ length: 40 }, (_, index) => opening(slow!, `user_${index}`)),
    )
    void slow!.client.permissions
      .get({ organizationId: 'org_1', userIds: ['ada'], skipResourceExistenceValidation: true })
      .catch(() => {})
    await expect.poll(() => silent.calls.length).toBeGreaterThan(0)
    const inbox = server.client({ token: await tokenFor(slow!, 'ada') })
    const asked = silent.calls.length
    for (let count = 0; count < 8; count++)
      void inbox.notifications.get({ organizationId: 'org_1' }).catch(() => {})
    await expect.poll(() => silent.calls.length).toBeGreaterThan(asked)
    for (const tenant of [quick!, plain!]) {
      expect(
        (await tenant.client.notifications.get({ organizationId: 'org_1', userId: 'ada' })).data,
      ).toEqual([])
      const client = await opening(tenant)
      expect(await client.opened()).toEqual({ role: 'editor' })
      expect(await client.update(wordUpdate('hello'))).toBe('saved')
    }
    // More clients than database connections wait, and the tenant itself can be served too.
    await given.document(slow!, 'doc_2')
    expect(waiting.filter(({ roles, ending }) => ending || roles.length > 0)).toEqual([])
  })

  test('[R18] [R9.4] a client that waits for the provider stays connected, and what it sent meanwhile is stored', async () => {
    const tenant = await given.tenant(server)
    const provider = await useProvider(tenant)
    const { respond } = provider
    let answer = () => {}
    provider.respond = (...call) => void (answer = () => respond(...call))
    const client = await opening(tenant)
    const saved = client.update(wordUpdate('early'))
    await expect.poll(() => provider.calls.length).toBe(1)
    answer()
    expect(await saved).toBe('saved')
  })
})

describe('the attempts to ask a permission provider', () => {
  // The clock runs so fast that 34 s, the time for all attempts, are 4.3 s. An attempt has more than a second.
  const server = useServer(anyStore, { env: allowLoopback, clockSpeed: 8 })

  async function scene() {
    const tenant = await given.tenant(server)
    const provider = await useProvider(tenant)
    const open = async () => new RawRealtime(server, { ...target, token: await tokenFor(tenant) })
    return { tenant, provider, open }
  }

  test('[7.8.4] a provider that never answers is asked three times, and then denies', async () => {
    const { provider, open } = await scene()
    provider.respond = () => {}
    const startedAt = performance.now()
    expect(await (await open()).ended).toEqual(denied)
    expect(provider.calls).toHaveLength(3)
    expect(performance.now() - startedAt).toBeGreaterThan(34_000 / 8 - 50)
  })

  test('[7.8.4] a provider that is down denies', async () => {
    const { provider, open } = await scene()
    provider.stop()
    expect(await (await open()).ended).toEqual(denied)
    const reasons = server.logged.filter((line) => line.includes('the permission provider gave no answer'))
    expect(reasons.some((line) => line.includes('ECONNREFUSED'))).toBe(true)
    expect(reasons.join()).not.toContain('token-of-the-provider')
  })

  test('[7.8.4] a provider that answers at the third attempt decides', async () => {
    const { provider, open } = await scene()
    const { respond } = provider
    provider.respond = (response, call) => {
      if (provider.calls.length < 3) response.writeHead(503).end()
      else respond(response, call)
    }
    expect(await (await open()).opened()).toEqual({ role: 'editor' })
  })
})

describe('a permission provider at a private address', () => {
  const server = useServer(anyStore, { isOwn: true })

  test('[N1] the server does not connect to it, and denies', async () => {
    const tenant = await given.tenant(server)
    const provider = await useProvider(tenant)
    const client = new RawRealtime(server, { ...target, token: await tokenFor(tenant) })
    expect(await client.ended).toEqual(denied)
    expect(provider.calls).toEqual([])
    expect(server.logged.join()).toContain('OUTGOING_PRIVATE_ADDRESSES')
  })
})

describe('a server that stops', () => {
  const server = useServer(anyStore, { env: allowLoopback })

  test('[O1] it does not wait for a provider', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const provider = await TestProvider.start()
    provider.respond = () => {}
    await tenant.client.permissionProviderConfig.update({
      usePermissionProvider: true,
      permissionProviderConfig: { permissionProviderUrl: provider.url },
    })
    const call = tenant.client.permissions.get({ organizationId: 'org_1', userIds: ['ada'] })
    await expect.poll(() => provider.calls.length).toBe(1)
    expect(provider.calls[0]?.headers).not.toHaveProperty('authorization')
    const stopped = server.server.stop()
    expect((await call).data.ada?.organization.org_1).toMatchObject({ errorCode: 'permission_denied' })
    await stopped
  })
})

describe('a permission provider whose settings are damaged', () => {
  const server = useServer(anyStore, { env: allowLoopback })

  test('[R9.4] clients are closed with 4503, and the log says why', async () => {
    const tenant = await given.tenant(server)
    await useProvider(tenant)
    await server.database.write((db) =>
      db
        .updateTable('service_configs')
        .set({ secret: Buffer.from('damaged') })
        .where('api_key', '=', tenant.apiKey)
        .execute(),
    )
    const client = new RawRealtime(server, { ...target, token: await tokenFor(tenant) })
    expect(await client.ended).toEqual({ code: 4503, reason: 'Access could not be checked.' })
    expect(server.logged.join()).toContain('cannot read the settings of the permission provider')
  })

  test('[R13.7] live states that wait for the provider are answered when it denies access, and when the document is deleted', async () => {
    const tenant = await given.tenant(server)
    await given.document(tenant)
    const provider = await useProvider(tenant)
    const { respond } = provider
    const answers: (() => void)[] = []
    provider.respond = (...call) => void answers.push(() => respond(...call))
    provider.decide = () => ({ hasAccess: false })
    const setting = async (userId: string) => {
      const asked = provider.calls.length
      const socket = await RealtimeSocket.connect(server, await tokenFor(tenant, userId))
      socket.send({
        type: 'open',
        ref: 1,
        organizationId: 'org_1',
        documentId: 'doc_1',
        topics: ['liveState'],
      })
      const answer = socket.set('a', { n: 1 })
      await expect.poll(() => provider.calls.length).toBe(asked + 1)
      return { socket, answer }
    }
    const denied = await setting('ada')
    for (const answer of answers.splice(0)) answer()
    expect(await denied.answer).toMatchObject({ type: 'error', status: 'PERMISSION_DENIED' })
    expect(await denied.socket.take('closed')).toMatchObject({ code: 4403 })

    const gone = await setting('bob')
    const { organizationId, documentId } = target
    await tenant.client.documents.delete({ organizationId, documentIds: [documentId] })
    expect(await gone.answer).toMatchObject({ type: 'error', status: 'NOT_FOUND' })
    expect(await gone.socket.take('closed')).toMatchObject({ code: 4404 })
  })
})
