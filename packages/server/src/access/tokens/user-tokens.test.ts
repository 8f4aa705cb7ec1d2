import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompactSign, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Database } from '../../store/engine/db.ts'
import { openDatabase } from '../../store/engine/open.ts'
import * as signingKeys from '../../store/signing-keys.ts'
import { mintAuthToken } from '../credentials/auth-tokens.ts'
import { createSecrets } from '../credentials/secrets.ts'
import { createUserTokens, type UserClaims, type UserTokens } from './user-tokens.ts'

const now = 1_700_000_000_123
const seconds = Math.floor(now / 1000)
const twoDays = 172_800
const day = 86_400_000

const folder = mkdtempSync(join(tmpdir(), 'plenum-user-tokens-'))
const secrets = createSecrets('a secret key that only these tests use')
let database: Database
let tokens: UserTokens
/** The key with which the server signs, and a foreign key. */
let ours: { kid: string; key: CryptoKey; publicJwk: JWK }
let foreign: { key: CryptoKey; publicJwk: JWK }
let genuine: string

const ada: UserClaims = {
  apiKey: 'key_1',
  userId: 'u1',
  userProperties: { name: 'Ada', email: 'ada@example.com', isAdmin: false, plan: 'gold' },
  permissions: {
    resources: [
      { type: 'organization', id: 'o1', accessRole: 'viewer' },
      { type: 'document', id: 'd1', organizationId: 'o1', accessRole: 'editor', expiresAt: seconds + 60 },
    ],
  },
}

beforeAll(async () => {
  database = await openDatabase({ dataDir: folder, durability: 'relaxed', poolSize: 1 })
  tokens = createUserTokens(database, secrets)
  genuine = await tokens.sign(ada, now)
  const [stored] = await signingKeys.all(database.read)
  if (!stored) throw new Error('There is no signing key.')
  const kid = stored.keyId
  const jwk = JSON.parse(secrets.unseal(stored.privateJwk, `signing_keys/${kid}`).toString()) as JWK
  ours = { kid, key: (await importJWK(jwk, 'ES256')) as CryptoKey, publicJwk: stored.publicJwk }
  const pair = await generateKeyPair('ES256', { extractable: true })
  foreign = { key: pair.privateKey, publicJwk: await exportJWK(pair.publicKey) }
})
afterAll(async () => {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

const base64url = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** The claims that the server would write. */
const claims = () => ({
  iss: 'svc',
  aud: 'key_1',
  sub: 'u1',
  ...issued(now),
  jti: 'j1',
  userProperties: ada.userProperties,
  permissions: ada.permissions,
})
/** The claims about time. */
const issued = (at: number) => {
  const iat = Math.floor(at / 1000)
  return { iat, exp: iat + twoDays, issuedAtMs: at }
}
const header = () => ({ alg: 'ES256', kid: ours.kid, typ: 'JWT' })

interface Differs {
  header?: Record<string, unknown>
  /** Replaces claims that the server would write; undefined removes a claim. */
  claims?: Record<string, unknown>
  /** Replaces the JSON of the claims. */
  payload?: string
  key?: CryptoKey | Uint8Array
}

/** A token that is signed with the server's own key by default. */
const forge = ({ header: fields, claims: changed, payload, key = ours.key }: Differs = {}) =>
  new CompactSign(Buffer.from(payload ?? JSON.stringify({ ...claims(), ...changed })))
    .setProtectedHeader({ ...header(), ...fields })
    .sign(key, { crit: { exp: true, unknown: true } })

/** A token with a header that no library signs. */
const withHeader = (fields: Record<string, unknown>, signature = genuine.split('.')[2]) =>
  `${base64url({ ...header(), ...fields })}.${base64url(claims())}.${signature}`

const resource = (differs: Record<string, unknown>) => ({
  permissions: {
    resources: [{ type: 'document', id: 'd1', organizationId: 'o1', accessRole: 'editor', ...differs }],
  },
})

const failure = (token: string, at = now) =>
  tokens.verify(token, at).then(
    () => 'accepted',
    (error: { name: string; code?: string }) => `${error.name}: ${error.code}`,
  )
const isInvalid = 'TokenError: token_invalid'
const isExpired = 'TokenError: token_expired'

test('[7.1.2] verify returns the user, the API key and the permissions that the token was issued with', async () => {
  const user = {
    apiKey: 'key_1',
    userId: 'u1',
    name: 'Ada',
    email: 'ada@example.com',
    isAdmin: false,
    properties: ada.userProperties,
    resources: [
      { type: 'organization', id: 'o1', organizationId: 'o1', accessRole: 'viewer', expiresAt: null },
      { type: 'document', id: 'd1', organizationId: 'o1', accessRole: 'editor', expiresAt: seconds + 60 },
    ].map((grant) => ({ ...grant, issuedAt: now })),
    issuedAt: now,
    expiresAt: seconds + twoDays,
  }
  expect(await tokens.verify(genuine, now)).toEqual(user)
  // So the tokens in the tests below are invalid only because of what each test changes.
  expect(await tokens.verify(await forge(), now)).toEqual(user)
})

test('[7.1.2] verify accepts a token without a name, an email address or permissions', async () => {
  const bare = { ...ada, userProperties: { isAdmin: true }, permissions: { resources: [] } }
  expect(await tokens.verify(await tokens.sign(bare, now), now)).toEqual({
    apiKey: 'key_1',
    userId: 'u1',
    isAdmin: true,
    properties: { isAdmin: true },
    resources: [],
    issuedAt: now,
    expiresAt: seconds + twoDays,
  })
})

test('[7.1.2] a token is valid until its time exp, and expired from then on', async () => {
  const last = (seconds + twoDays) * 1000
  expect(await failure(genuine, last - 1)).toBe('accepted')
  expect(await failure(genuine, last)).toBe(isExpired)
  const neverSeen = await forge({ claims: { jti: 'j2' } })
  expect(await failure(neverSeen, last)).toBe(isExpired)
})

describe('[7.1.2] verify refuses a token that is or has', () => {
  const hostile: Record<string, () => string | Promise<string>> = {
    'no characters': () => '',
    'the user id of a backend that connects': () => forge({ claims: { sub: 'server' } }),
    'the user id of a backend that calls operations': () => forge({ claims: { sub: 'rest-api' } }),
    'plain text': () => 'token',
    'two parts': () => genuine.split('.').slice(0, 2).join('.'),
    'four parts': () => `${genuine}.AAAA`,
    'five parts, as if encrypted': () => `${genuine}.AAAA.AAAA`,
    'empty parts': () => '..',
    'white space around it': () => ` ${genuine}\n`,
    'white space inside': () => genuine.replace('.', '.\n'),
    padding: () => `${genuine}==`,
    'a megabyte': () => 'a'.repeat(1_000_000),
    'a megabyte of claims that we signed': () => forge({ claims: { more: 'x'.repeat(1_000_000) } }),
    'a header of 100 KB': () => withHeader({ more: 'x'.repeat(100_000) }),
    'alg none': () => `${base64url({ ...header(), alg: 'none' })}.${base64url(claims())}.`,
    'alg none with a signature': () => withHeader({ alg: 'none' }),
    'alg None': () => withHeader({ alg: 'None' }),
    'alg NONE': () => withHeader({ alg: 'NONE' }),
    'alg nOnE': () => withHeader({ alg: 'nOnE' }),
    'no alg': () => withHeader({ alg: undefined }),
    'alg in lower case': () => withHeader({ alg: 'es256' }),
    'alg as a list': () => withHeader({ alg: ['ES256'] }),
    'alg ES384': () => withHeader({ alg: 'ES384' }),
    'alg EdDSA': async () => {
      const { privateKey } = await generateKeyPair('EdDSA')
      return forge({ header: { alg: 'EdDSA' }, key: privateKey })
    },
    'alg RS256 with a key of its own': async () => {
      const { privateKey } = await generateKeyPair('RS256')
      return forge({ header: { alg: 'RS256' }, key: privateKey })
    },
    'HS256 with our public key as the secret (JWK)': () =>
      forge({ header: { alg: 'HS256' }, key: Buffer.from(JSON.stringify(ours.publicJwk)) }),
    'HS256 with our public key as the secret (coordinates)': () =>
      forge({ header: { alg: 'HS256' }, key: Buffer.from(`${ours.publicJwk.x}${ours.publicJwk.y}`) }),
    'HS256 with an empty header type': () =>
      forge({ header: { alg: 'HS256', typ: undefined }, key: randomBytes(32) }),
    'an empty signature': () => withHeader({}, ''),
    'a short signature': () => genuine.slice(0, -10),
    'a long signature': () => `${genuine}AAAA`,
    'a signature of zeros': () => withHeader({}, Buffer.alloc(64).toString('base64url')),
    'a random signature': () => withHeader({}, randomBytes(64).toString('base64url')),
    'a signature in DER': () => {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      return withHeader({}, sign('sha256', Buffer.from('x'), privateKey).toString('base64url'))
    },
    'the signature of another token': async () => {
      const other = await tokens.sign({ ...ada, userId: 'u2' }, now)
      return [...genuine.split('.').slice(0, 2), other.split('.')[2]].join('.')
    },
    'other claims under a genuine signature': () => {
      const [head, , signature] = genuine.split('.')
      return [head, base64url({ ...claims(), sub: 'admin' }), signature].join('.')
    },
    'a repeated claim under a genuine signature': () => {
      const [head, body = '', signature] = genuine.split('.')
      const text = Buffer.from(body, 'base64url').toString()
      return [head, base64url(`${text.slice(0, -1)},"sub":"admin"}`), signature].join('.')
    },
    'the signature of a foreign key under our kid': () => forge({ key: foreign.key }),
    'an unknown kid': () => forge({ header: { kid: 'key_1' }, key: foreign.key }),
    'no kid': () => forge({ header: { kid: undefined } }),
    'a kid that is a number': () => withHeader({ kid: 1 }),
    'a kid that is a list': () => withHeader({ kid: [ours.kid] }),
    'a kid that is a path': () => forge({ header: { kid: '../../../../dev/null' } }),
    'a kid that is SQL': () => forge({ header: { kid: "' or 1=1 --" } }),
    'a kid that is a URL': () => forge({ header: { kid: 'http://127.0.0.1:1/key' } }),
    'a kid named like a property of objects': () => forge({ header: { kid: 'constructor' } }),
    'a key in the header': () => forge({ header: { jwk: foreign.publicJwk }, key: foreign.key }),
    'a key in the header, signed by us': () => forge({ header: { jwk: ours.publicJwk } }),
    jku: () => forge({ header: { jku: 'http://127.0.0.1:1/jwks.json' } }),
    x5u: () => forge({ header: { x5u: 'http://127.0.0.1:1/chain.pem' } }),
    x5c: () => forge({ header: { x5c: ['AAAA'] } }),
    'an unknown crit': () => forge({ header: { crit: ['unknown'], unknown: true } }),
    'crit that is empty': () => withHeader({ crit: [] }),
    'an unencoded payload': () => withHeader({ b64: false, crit: ['b64'] }),
    zip: () => forge({ header: { zip: 'DEF' } }),
    'another typ': () => forge({ header: { typ: 'at+jwt' } }),
    'no typ': () => forge({ header: { typ: undefined } }),
    'typ in lower case': () => forge({ header: { typ: 'jwt' } }),
    'a token inside a token': () => forge({ header: { cty: 'JWT' }, payload: genuine }),
    'a token as claims': () => forge({ payload: genuine }),
    'a list as claims': () => forge({ payload: '[]' }),
    'null as claims': () => forge({ payload: 'null' }),
    'claims that are not JSON': () => forge({ payload: '{"iss":"svc"' }),
    'claims that are not UTF-8': () =>
      new CompactSign(Buffer.from([0x7b, 0xff, 0x7d])).setProtectedHeader(header()).sign(ours.key),
    'another iss': () => forge({ claims: { iss: 'svc2' } }),
    'no iss': () => forge({ claims: { iss: undefined } }),
    'iss as a list': () => forge({ claims: { iss: ['svc'] } }),
    'no aud': () => forge({ claims: { aud: undefined } }),
    'aud as a list': () => forge({ claims: { aud: ['key_1', 'key_2'] } }),
    'an empty aud': () => forge({ claims: { aud: '' } }),
    'no sub': () => forge({ claims: { sub: undefined } }),
    'sub as an object': () => forge({ claims: { sub: { toString: 'u1' } } }),
    'a sub with control characters': () => forge({ claims: { sub: 'u1\u0000' } }),
    'a sub of 10,000 characters': () => forge({ claims: { sub: 'u'.repeat(10_000) } }),
    'nbf in the future': () => forge({ claims: { nbf: seconds + 60 } }),
    'nbf as text': () => forge({ claims: { nbf: 'now' } }),
    'no exp': () => forge({ claims: { exp: undefined } }),
    'exp as text': () => forge({ claims: { exp: String(seconds + twoDays) } }),
    'exp with a fraction': () => forge({ claims: { exp: seconds + twoDays + 0.5 } }),
    'exp 2^53': () => forge({ claims: { exp: 2 ** 53 } }),
    'exp 1e400': () => forge({ payload: JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e400') }),
    'exp null': () => forge({ claims: { exp: null } }),
    'a lifetime of more than 48 hours': () => forge({ claims: { exp: seconds + twoDays + 1 } }),
    'limited as text': () => forge({ claims: { permissions: { resources: [], limited: 'yes' } } }),
    'no iat': () => forge({ claims: { iat: undefined } }),
    'iat as text': () => forge({ claims: { iat: String(seconds) } }),
    'no issuedAtMs': () => forge({ claims: { issuedAtMs: undefined } }),
    'issuedAtMs as text': () => forge({ claims: { issuedAtMs: String(now) } }),
    'issuedAtMs with a fraction': () => forge({ claims: { issuedAtMs: now + 0.5 } }),
    'issuedAtMs before iat': () => forge({ claims: { issuedAtMs: seconds * 1000 - 1 } }),
    'issuedAtMs after iat': () => forge({ claims: { issuedAtMs: (seconds + 1) * 1000 } }),
    'no properties': () => forge({ claims: { userProperties: undefined } }),
    'properties as a list': () => forge({ claims: { userProperties: [] } }),
    'a name that is an object': () => forge({ claims: { userProperties: { name: { first: 'Ada' } } } }),
    'isAdmin as text': () => forge({ claims: { userProperties: { isAdmin: 'true' } } }),
    'no permissions': () => forge({ claims: { permissions: undefined } }),
    'resources as an object': () => forge({ claims: { permissions: { resources: {} } } }),
    'a resource that is null': () => forge({ claims: { permissions: { resources: [null] } } }),
    'a resource of another type': () => forge({ claims: resource({ type: 'workspace' }) }),
    'a resource without an id': () => forge({ claims: resource({ id: undefined }) }),
    'a document of no organization': () => forge({ claims: resource({ organizationId: undefined }) }),
    'another role': () => forge({ claims: resource({ accessRole: 'owner' }) }),
    'an expiry as text': () => forge({ claims: resource({ expiresAt: 'never' }) }),
    'the token of an API key': () =>
      mintAuthToken(secrets.authTokenKey, 'key_1', { tokenId: 't1', issuedAt: now }),
    'the token of an API key with our kid': () =>
      new SignJWT(claims()).setProtectedHeader({ ...header(), alg: 'HS256' }).sign(secrets.authTokenKey),
  }

  test.each(Object.entries(hostile))('%s', async (_, make) => {
    expect(await failure(await make())).toBe(isInvalid)
  })

  test('one character changed at any position but the last', async () => {
    // Some bits of the last character of the signature are not used.
    const places = Array.from({ length: genuine.length - 1 }, (_, index) => index)
    const accepted = []
    for (const at of places) {
      const changed = `${genuine.slice(0, at)}${genuine[at] === 'A' ? 'B' : 'A'}${genuine.slice(at + 1)}`
      if ((await failure(changed)) !== isInvalid) accepted.push(at)
    }
    expect(accepted).toEqual([])
  })
})

test('[7.1.2] a token with a foreign signature is reported as invalid, never as expired', async () => {
  const old = await forge({ claims: { iat: 1, exp: 1 + twoDays }, key: foreign.key })
  expect(await failure(old)).toBe(isInvalid)
  expect(await failure(await forge({ claims: { iat: 1, exp: 1 + twoDays } }))).toBe(isExpired)
})

test('[7.1.1] a token with 500 resources and the longest ids is issued and accepted, and a larger token is not issued', async () => {
  const id = (prefix: string) => prefix.padEnd(256, 'x')
  const resources = Array.from({ length: 500 }, (_, index) => ({
    type: 'document',
    id: id(`d${index}`),
    organizationId: id('o'),
    accessRole: 'editor',
    expiresAt: Number.MAX_SAFE_INTEGER,
  }))
  const large = { ...ada, permissions: { resources } }
  const user = await tokens.verify(await tokens.sign(large, now), now)
  expect(user.resources).toHaveLength(500)
  expect(user.resources.at(-1)).toEqual({ ...resources.at(-1), issuedAt: now })
  const tooLarge = { ...large, userProperties: { notes: 'x'.repeat(200_000) } }
  await expect(tokens.sign(tooLarge, now)).rejects.toMatchObject({
    status: 'INVALID_ARGUMENT',
    message: 'userProperties and permissions are too large for a token.',
  })
})

test('[7.1.3] a replaced signing key verifies tokens until the last one that it signed has expired, and no longer', async () => {
  // Signed with a key that has been replaced, as if the key had been stolen.
  const at = now + 93 * day
  const stolen = await forge({ claims: issued(at) })
  expect(await failure(stolen, at)).toBe(isInvalid)
  const last = now + 90 * day
  const good = await forge({ claims: issued(last) })
  expect(await failure(good, last + 2 * day - 1000)).toBe('accepted')
})

/** The database as the verifier sees it: counts reads, and can be unavailable. */
function watchedDatabase() {
  const state = { reads: 0, isAway: false }
  const view = Object.create(database, {
    read: {
      get: () => {
        state.reads++
        if (state.isAway) throw new Error('The database is unavailable.')
        return database.read
      },
    },
  }) as Database
  return { state, tokens: createUserTokens(view, secrets) }
}

test('[7.1.2] signing keys are cached, and unknown key ids are looked up at most once a second', async () => {
  const { state, tokens: other } = watchedDatabase()
  const unknown = await forge({ header: { kid: 'nobody' } })
  const tryAt = async (at: number) => {
    await Promise.allSettled(Array.from({ length: 20 }, () => other.verify(unknown, at)))
    return state.reads
  }
  expect(await tryAt(now)).toBe(1)
  expect(await tryAt(now + 999)).toBe(1)
  expect(await tryAt(now + 1000)).toBe(2)
  await other.verify(genuine, now + 5000)
  expect(state.reads).toBe(2)
  expect(await tryAt(now - day)).toBe(3)
})

test('[7.1.2] a token is not reported as invalid while the database is unavailable', async () => {
  const { state, tokens: other } = watchedDatabase()
  state.isAway = true
  await expect(other.verify(genuine, now)).rejects.toThrow('The database is unavailable.')
  state.isAway = false
  expect((await other.verify(genuine, now)).userId).toBe('u1')
})

test('[7.1.2] the signature of a token is verified once, however often the token is used', async () => {
  const { tokens: other } = watchedDatabase()
  const computed = vi.spyOn(crypto.subtle, 'verify')
  try {
    const first = await other.verify(genuine, now)
    expect(computed).toHaveBeenCalledTimes(1)
    for (let times = 0; times < 100; times++) expect(await other.verify(genuine, now)).toBe(first)
    expect(computed).toHaveBeenCalledTimes(1)
    await expect(other.verify(genuine, now + 2 * day)).rejects.toMatchObject({ code: 'token_expired' })
  } finally {
    computed.mockRestore()
  }
})
