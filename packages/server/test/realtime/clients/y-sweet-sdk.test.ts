import { decodeClientToken, DocConnection, DocumentManager, encodeClientToken } from '@y-sweet/sdk'
import { decodeJwt } from 'jose'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as Y from 'yjs'
import * as given from '../../support/given.ts'
import { anyStore, startServer, useServer } from '../../support/harness.ts'
import { eventually, synced } from '../../support/clients/convergence.ts'
import { editorName } from '../../support/clients/open-clients.ts'
import { openHttp, post } from '../../support/clients/raw-http.ts'
import { ySweetManager } from '../../support/clients/y-sweet-client.ts'
import { yjsClient } from '../../support/clients/yjs-client.ts'
import { plenumConnection } from '../../support/clients/plenum-client.ts'
import { tokenFor } from '../../support/access/user-tokens.ts'

const updateOf = (text: string): Uint8Array => {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, text)
  return Y.encodeStateAsUpdate(doc)
}

const textIn = (update: Uint8Array): string => {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, update)
  return doc.getText('content').toJSON()
}

const failed = (status: number) => ({ cause: { code: 'ServerError', status } })
const unauthenticated = { cause: { code: 'InvalidAuthProvided' } }

describe('the SDK of Y-Sweet', () => {
  const server = useServer(anyStore, { isOwn: true })

  const scene = async () => {
    const tenant = await given.tenant(server)
    return { tenant, manager: ySweetManager(server, tenant) }
  }
  const call = (path: string, token: string, init: RequestInit = {}) =>
    fetch(`${server.url}/y-sweet/${path}`, { headers: { authorization: `Bearer ${token}` }, ...init })

  test('[R51] the SDK finds the store, and creating an existing document leaves it unchanged', async () => {
    const { tenant, manager } = await scene()
    expect(await manager.checkStore()).toEqual({ ok: true })
    expect(await manager.createDoc('one')).toEqual({ docId: 'one' })
    await manager.updateDoc('one', updateOf('Hello'))
    expect(await manager.createDoc('one')).toEqual({ docId: 'one' })
    expect(textIn(await manager.getDocAsUpdate('one'))).toBe('Hello')
    const { docId } = await manager.createDoc()
    const { data } = await tenant.client.documents.get({ organizationId: 'y-sweet' })
    expect(data.map(({ id }) => id).sort()).toEqual([docId, 'one'].sort())
  })

  test('[R51] [R51.3] a client token has the addresses of the request, and is a user token with the requested user, role and lifetime', async () => {
    const { tenant } = await scene()
    const requested = { userId: 'zoe', authorization: 'read-only', validForSeconds: 600 } as const
    const issued = await ySweetManager(server.one, tenant).getOrCreateDocAndToken(editorName, requested)
    const { token = '', ...rest } = issued
    const base = `${server.one.url}/y-sweet/d/${editorName}`
    expect(rest).toEqual({
      url: `${base.replace(/^http/, 'ws')}/ws`,
      baseUrl: base,
      docId: editorName,
      authorization: 'read-only',
      validForSeconds: 600,
    })
    const claims = decodeJwt(token)
    expect(claims).toMatchObject({ aud: tenant.apiKey, sub: 'zoe', exp: (claims.iat ?? 0) + 600 })
    expect(claims.permissions).toEqual({
      resources: [{ type: 'document', id: 'doc_1', organizationId: 'org_1', accessRole: 'viewer' }],
      limited: true,
    })
    expect(decodeClientToken(encodeClientToken(issued))).toEqual(issued)
  })

  test('[R51.2] [R43] a client token without userId belongs to y-sweet-client, lasts at most 48 hours, and is not issued for invalid options', async () => {
    const { manager } = await scene()
    const issued = await manager.getOrCreateDocAndToken('one', { validForSeconds: 1_000_000 })
    const { sub, iat = 0, exp } = decodeJwt(issued.token ?? '')
    expect({ sub, seconds: (exp ?? 0) - iat }).toEqual({ sub: 'y-sweet-client', seconds: 172_800 })
    expect(issued).toMatchObject({ validForSeconds: 172_800, authorization: 'full' })
    for (const wrong of [
      { validForSeconds: 0 },
      { validForSeconds: 1.5 },
      { userId: 'server' },
      { userId: '' },
    ])
      await expect(manager.getClientToken('one', wrong)).rejects.toMatchObject(failed(400))
  })

  test('[R52] [R52.1] an update is stored, broadcast to open editors, and can be read', async () => {
    const { tenant, manager } = await scene()
    await manager.createDoc(editorName)
    expect(textIn(await manager.getDocAsUpdate(editorName))).toBe('')
    const ada = yjsClient(server, await tokenFor(tenant))
    await synced(ada)
    await manager.updateDoc(editorName, updateOf('Hello'))
    expect(textIn(await manager.getDocAsUpdate(editorName))).toBe('Hello')
    await eventually(() => ada.text.toJSON()).toBe('Hello')
    const { docId } = await manager.createDocWithContent(updateOf('Content'))
    expect(textIn(await manager.getDocAsUpdate(docId))).toBe('Content')
  })

  test('[R52.4] a user whose update comes in a request is not listed as present', async () => {
    const { tenant, manager } = await scene()
    await manager.createDoc(editorName)
    const connection = plenumConnection(server.client(), await tokenFor(tenant))
    const document = connection.document('org_1', 'doc_1')
    const editor = document.editor('note')
    await editor.whenSynced
    const seen = new Set<string>()
    onTestFinished(document.presence.subscribe((users) => users.forEach(({ userId }) => seen.add(userId))))
    await manager.updateDoc(editorName, updateOf('Hello'))
    // An earlier change of presence would have arrived before this one.
    document.presence.set({ data: { last: true } })
    await eventually(() => document.presence.users[0]?.data).toEqual({ last: true })
    expect([...seen]).toEqual(['ada'])
  })

  test('[R52.2] a backend can read and write with the auth token itself, as older SDKs do', async () => {
    const { tenant, manager } = await scene()
    await manager.createDoc('one')
    const headers = {
      authorization: `Bearer ${tenant.authToken}`,
      'content-type': 'application/octet-stream',
    }
    const sent = { method: 'POST', headers, body: Buffer.from(updateOf('Hello')) }
    expect((await call('doc/one/update', tenant.authToken, sent)).status).toBe(200)
    const answer = await call('doc/one/as-update', tenant.authToken)
    expect(textIn(new Uint8Array(await answer.arrayBuffer()))).toBe('Hello')
    expect(answer.headers.get('content-type')).toBe('application/octet-stream')
  })

  test('[R52] a large document is read as one update', async () => {
    const { manager } = await scene()
    await manager.createDoc('one')
    const text = 'x'.repeat(900_000)
    for (const part of [text, text, text]) await manager.updateDoc('one', updateOf(part))
    expect(textIn(await manager.getDocAsUpdate('one'))).toBe(text.repeat(3))
  })

  test('[R52.1] an update that is malformed, too large or depends on a missing one is refused and not stored', async () => {
    const { manager } = await scene()
    await manager.createDoc('one')
    await manager.updateDoc('one', updateOf('Hello'))
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'a')
    const vector = Y.encodeStateVector(doc)
    doc.getText('content').insert(1, 'b')
    const gap = Y.encodeStateAsUpdate(doc, vector)
    const update = (bytes: Uint8Array) => manager.updateDoc('one', bytes)
    await expect(update(Uint8Array.of(1, 2, 3))).rejects.toMatchObject(failed(400))
    await expect(update(gap)).rejects.toMatchObject(failed(400))
    await expect(update(updateOf('x'.repeat(1_100_000)))).rejects.toMatchObject(failed(400))
    await expect(update(updateOf('x'.repeat(2_000_000)))).rejects.toMatchObject(failed(413))
    expect(textIn(await manager.getDocAsUpdate('one'))).toBe('Hello')
  })

  test('[R52.1] a refused update is not stored later when the update it depends on arrives', async () => {
    const { manager } = await scene()
    await manager.createDoc('one')
    const doc = new Y.Doc()
    doc.getText('content').insert(0, 'a')
    const base = Y.encodeStateAsUpdate(doc)
    doc.getText('content').insert(1, 'b')
    const rest = Y.encodeStateAsUpdate(doc, Y.encodeStateVectorFromUpdate(base))
    await expect(manager.updateDoc('one', rest)).rejects.toMatchObject(failed(400))
    await manager.updateDoc('one', base)
    await manager.updateDoc('one', updateOf('later'))
    expect(textIn(await manager.getDocAsUpdate('one'))).not.toContain('b')
  })

  test('[R52.2] a read-only token can read a document but not write it', async () => {
    const { manager } = await scene()
    await manager.createDoc('one')
    const reader = await manager.getDocConnection('one', { authorization: 'read-only' })
    await expect(reader.updateDoc(updateOf('forged'))).rejects.toMatchObject(failed(403))
    expect(textIn(await reader.getAsUpdate())).toBe('')
  })

  test('[R49] a document that does not exist is answered with 404 and is not created', async () => {
    const { tenant, manager } = await scene()
    await expect(manager.getClientToken('none')).rejects.toMatchObject(failed(404))
    const connection = new DocConnection(await manager.getOrCreateDocAndToken('one'))
    await tenant.client.documents.delete({ organizationId: 'y-sweet', documentIds: ['one'] })
    await expect(connection.getAsUpdate()).rejects.toMatchObject(failed(404))
    await expect(connection.updateDoc(updateOf('again'))).rejects.toMatchObject(failed(404))
    expect((await tenant.client.documents.get({ organizationId: 'y-sweet' })).data).toEqual([])
  })

  test('[R49] [R51.1] wrong credentials are answered with 401 in the error envelope of the interface', async () => {
    const { tenant, manager } = await scene()
    const { token = '' } = await manager.getOrCreateDocAndToken('one')
    const [head = '', claims = ''] = tenant.authToken.split('.')
    const forged = `${head}.${claims}.${'A'.repeat(43)}`
    for (const wrong of ['nonsense', forged, tenant.workspaceAuthToken, token]) {
      const other = ySweetManager(server, { authToken: wrong })
      await expect(other.checkStore()).rejects.toMatchObject(unauthenticated)
      await expect(other.createDoc('two')).rejects.toMatchObject(unauthenticated)
      await expect(other.getClientToken('one')).rejects.toMatchObject(unauthenticated)
    }
    const withoutToken = new DocumentManager(`${server.url}/y-sweet`)
    await expect(withoutToken.checkStore()).rejects.toMatchObject({ cause: { code: 'NoAuthProvided' } })
    const answer = await call('check_store', 'nonsense', { method: 'POST' })
    expect(await answer.json()).toEqual({
      error: { status: 'UNAUTHENTICATED', message: 'Invalid bearer token.' },
    })
  })

  test('[R49] a token reaches neither a document of another tenant nor another document, and a reset auth token is refused', async () => {
    const { tenant, manager } = await scene()
    const { manager: stranger } = await scene()
    await manager.createDocWithContent(updateOf('Hello'))
    const mine = await manager.getOrCreateDocAndToken('one')
    await manager.createDoc('two')
    await manager.updateDoc('two', updateOf('secret'))
    await expect(stranger.getClientToken('one')).rejects.toMatchObject(failed(404))
    const { token } = await stranger.getOrCreateDocAndToken('two')
    expect(
      textIn(
        await new DocConnection({ ...mine, token, baseUrl: `${server.url}/y-sweet/d/two` }).getAsUpdate(),
      ),
    ).toBe('')
    for (const path of ['two', 'org_1/doc_1/note']) {
      const other = new DocConnection({ ...mine, baseUrl: `${server.url}/y-sweet/d/${path}` })
      await expect(other.getAsUpdate()).rejects.toMatchObject(failed(403))
      await expect(other.updateDoc(updateOf('forged'))).rejects.toMatchObject(failed(403))
    }
    await tenant.client.authTokens.reset({ apiKey: tenant.apiKey })
    await expect(manager.checkStore()).rejects.toMatchObject(unauthenticated)
  })

  test('[R49] [R41.1] ids that an address would change, unknown paths and other methods are refused', async () => {
    const { tenant, manager } = await scene()
    for (const docId of ['a b', 'a/b', 'a/b/c/d', 'ü', 'a?b', '..', 'x'.repeat(257)])
      await expect(manager.createDoc(docId)).rejects.toMatchObject(failed(400))
    expect((await call('doc/one', tenant.authToken)).status).toBe(404)
    expect((await call('doc/one/copy', tenant.authToken, { method: 'POST' })).status).toBe(404)
    expect((await call('doc/one/auth', tenant.authToken)).status).toBe(404)
  })

  test('[R49.1] SDK calls appear in the metrics and in the log, and their tokens are not logged', async () => {
    const { tenant, manager } = await scene()
    const { token = '' } = await manager.getOrCreateDocAndToken('one')
    await manager.updateDoc('one', updateOf('Hello'))
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    for (const name of ['newDocument', 'authorize', 'update']) expect(metrics).toContain(`"ySweet.${name}"`)
    const logged = server.logged.join('\n')
    expect(logged).toContain('ySweet.authorize')
    for (const secret of [token, tenant.authToken]) expect(logged).not.toContain(secret)
  })

  test('[R49.1] SDK requests are limited like requests of the interface, by rate and by the domain of the page', async () => {
    const own = await startServer(anyStore, { env: { LIMIT_API_KEY_REQUESTS_PER_MINUTE: '3' } })
    onTestFinished(() => own.stop())
    const tenant = await given.tenant(own)
    const manager = ySweetManager(own.one, tenant)
    const headers = { authorization: `Bearer ${tenant.authToken}`, origin: 'https://evil.test' }
    const answer = await fetch(`${own.one.url}/y-sweet/check_store`, { method: 'POST', headers })
    expect(answer.status).toBe(403)
    await manager.checkStore()
    await manager.checkStore()
    await expect(manager.checkStore()).rejects.toMatchObject(failed(429))
  })

  test('[R49.1] SDK requests that arrive during a shutdown are refused with UNAVAILABLE', async () => {
    const own = await startServer(anyStore)
    const tenant = await given.tenant(own)
    const connection = openHttp(own.url)
    const headers = { authorization: `Bearer ${tenant.authToken}` }
    const request = post('/y-sweet/check_store', headers)
    // A connection in the middle of a request stays open when the server stops.
    connection.send(`${request}${request.slice(0, 20)}`)
    expect(await connection.answer()).toMatchObject({ status: 200 })
    const stopping = own.stop()
    connection.send(request.slice(20))
    const answer = await connection.answer()
    expect(answer).toMatchObject({ status: 503 })
    expect(JSON.parse(answer?.text ?? '')).toEqual({
      error: { status: 'UNAVAILABLE', message: 'The server is shutting down.' },
    })
    await stopping
  })

  test('[R51.3] the addresses in a client token are those of PUBLIC_URL, or those of the request with the scheme that a trusted proxy reports', async () => {
    const addressOf = async (env: Record<string, string>, headers: Record<string, string> = {}) => {
      const own = await startServer(anyStore, { env })
      onTestFinished(() => own.stop())
      const tenant = await given.tenant(own)
      const { docId } = await ySweetManager(own, tenant).createDoc('one')
      const { body } = await own.post(
        `/y-sweet/doc/${docId}/auth`,
        {},
        { authorization: `Bearer ${tenant.authToken}`, ...headers },
      )
      return [body.url, body.baseUrl]
    }
    expect(await addressOf({ PUBLIC_URL: 'https://plenum.example.com' })).toEqual([
      'wss://plenum.example.com/y-sweet/d/one/ws',
      'https://plenum.example.com/y-sweet/d/one',
    ])
    const proxied = await addressOf({ TRUSTED_PROXY_HOPS: '1' }, { 'x-forwarded-proto': 'https' })
    expect(proxied).toEqual([
      expect.stringMatching(/^wss:\/\/127\.0\.0\.1:\d+\/y-sweet\/d\/one\/ws$/),
      expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/y-sweet\/d\/one$/),
    ])
  })
})
