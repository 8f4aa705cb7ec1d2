import { decodeProtectedHeader, type JSONWebKeySet } from 'jose'
import { describe, expect, test } from 'vitest'
import * as given from '../../support/given.ts'
import { stores, useServer } from '../../support/harness.ts'
import { jwks, userToken, verify } from '../../support/access/token-scenes.ts'

const signedBy = (token: string) => decodeProtectedHeader(token).kid

describe.each(stores)('signing keys on %s', (store) => {
  const server = useServer(store, { isOwn: true })
  const hour = 60 * 60 * 1000
  const day = 24 * hour

  test('[7.1.3] a new key signs after 90 days, and the old key verifies until its last token expires', async () => {
    const tenant = await given.tenant(server)
    const keyIds = async () => (await jwks(server)).keys.map(({ kid }) => kid)
    const old = signedBy(await userToken(tenant, 'u1'))

    server.clock.offsetMs = 89 * day + 23 * hour
    const last = await userToken(tenant, 'u1')
    expect(signedBy(last)).toBe(old)

    server.clock.offsetMs = 91 * day
    const next = await userToken(tenant, 'u1')
    expect(signedBy(next)).not.toBe(old)
    expect(await keyIds()).toEqual([signedBy(next), old])
    expect((await verify(server, last, tenant.apiKey)).sub).toBe('u1')
    expect((await verify(server, next, tenant.apiKey)).sub).toBe('u1')

    server.clock.offsetMs = 91 * day + 48.9 * hour
    expect(await keyIds()).toEqual([signedBy(next), old])
    server.clock.offsetMs = 91 * day + 49.1 * hour
    expect(await keyIds()).toEqual([signedBy(next)])
    expect(signedBy(await userToken(tenant, 'u1'))).toBe(signedBy(next))
  })

  test('[7.1.3] /.well-known/jwks.json contains only public keys', async () => {
    const response = await fetch(`${server.url}/.well-known/jwks.json`)
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    const { keys } = (await response.json()) as JSONWebKeySet
    expect(keys).not.toEqual([])
    for (const key of keys) {
      expect(key).toEqual({
        kty: 'EC',
        crv: 'P-256',
        x: expect.any(String),
        y: expect.any(String),
        kid: expect.any(String),
        alg: 'ES256',
        use: 'sig',
      })
    }
  })
})
