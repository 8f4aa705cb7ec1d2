import { constants, createDecipheriv, generateKeyPairSync, type KeyObject, privateDecrypt } from 'node:crypto'
import { expect, test } from 'vitest'
import { sealBody } from './seal-body.ts'

const payload = { event: 'comment.add', data: { text: 'Grüße, 世界 🌍' }, long: 'x'.repeat(100_000) }
const base64 = (text: unknown) => Buffer.from(String(text), 'base64')

const keyPair = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength })

function decrypt(body: string, key: KeyObject): unknown {
  const { encryptedData, encryptedKey, iv, ...others } = JSON.parse(body) as Record<string, unknown>
  expect(others).toEqual({})
  expect(base64(iv)).toHaveLength(16)
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  const aesKey = privateDecrypt({ key, padding, oaepHash: 'sha256' }, base64(encryptedKey))
  const decipher = createDecipheriv('aes-256-cbc', aesKey, base64(iv))
  return JSON.parse(Buffer.concat([decipher.update(base64(encryptedData)), decipher.final()]).toString())
}

test('[24.7] a payload is sent as JSON, or with encodeData as Base64', () => {
  expect(JSON.parse(sealBody(payload, {}))).toEqual(payload)
  const { encodedPayload, ...others } = JSON.parse(sealBody(payload, { encodeData: true })) as Record<
    string,
    unknown
  >
  expect(others).toEqual({})
  expect(JSON.parse(base64(encodedPayload).toString())).toEqual(payload)
})

test.each([1024, 2048, 4096])(
  '[24.7] with encryptData the private key of %i bits decrypts the payload, also if encodeData is on',
  (bits) => {
    const { publicKey, privateKey } = keyPair(bits)
    for (const type of ['spki', 'pkcs1'] as const) {
      const pem = publicKey.export({ type, format: 'pem' }).toString()
      const der = publicKey.export({ type, format: 'der' }).toString('base64')
      for (const key of [pem, der]) {
        const body = sealBody(payload, { encodeData: true, encryptData: true, publicKey: key })
        expect(decrypt(body, privateKey)).toEqual(payload)
      }
    }
  },
)

test('[24.7] each body has a key and an IV of its own, and another private key does not decrypt it', () => {
  const { publicKey, privateKey } = keyPair()
  const settings = {
    encryptData: true,
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  }
  const bodies = Array.from({ length: 3 }, () => sealBody(payload, settings))
  const fields = bodies.flatMap((body) => Object.values(JSON.parse(body) as Record<string, string>))
  expect(new Set(fields).size).toBe(9)
  const other = keyPair().privateKey
  for (const body of bodies) {
    expect(body).not.toContain('comment.add')
    expect(decrypt(body, privateKey)).toEqual(payload)
    expect(() => decrypt(body, other)).toThrow()
  }
})

test('[24.7] a payload that must be encrypted is never sent in clear', () => {
  for (const publicKey of ['', 'AAAA']) {
    expect(() => sealBody(payload, { encryptData: true, publicKey })).toThrow('no valid public key')
  }
})
