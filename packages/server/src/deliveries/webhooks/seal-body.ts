import { constants, createCipheriv, publicEncrypt, randomBytes } from 'node:crypto'
import type { WebhookBodySettings } from '../../store/webhooks/settings.ts'
import { readPublicKey } from './public-keys.ts'

/** The body that is sent for a payload (spec 24.7). Throws if it must be encrypted and there is no key. */
export function sealBody(
  payload: object,
  { encodeData, encryptData, publicKey = '' }: Omit<WebhookBodySettings, 'enableDataProtection'>,
): string {
  const json = JSON.stringify(payload)
  if (encryptData) return JSON.stringify(encrypted(json, publicKey))
  if (encodeData) return JSON.stringify({ encodedPayload: Buffer.from(json).toString('base64') })
  return json
}

/** AES-256-CBC with a random key and IV. The key is encrypted with RSA-OAEP and SHA-256. */
function encrypted(json: string, publicKey: string) {
  const rsaKey = readPublicKey(publicKey)
  if (!rsaKey) throw new Error('The payload must be encrypted, but there is no valid public key.')
  const [key, iv] = [randomBytes(32), randomBytes(16)]
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const data = Buffer.concat([cipher.update(json, 'utf8'), cipher.final()])
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  return {
    encryptedData: data.toString('base64'),
    encryptedKey: publicEncrypt({ key: rsaKey, padding, oaepHash: 'sha256' }, key).toString('base64'),
    iv: iv.toString('base64'),
  }
}
