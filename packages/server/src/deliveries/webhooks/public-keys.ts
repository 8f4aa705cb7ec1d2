import { createPublicKey, type KeyObject } from 'node:crypto'

/** OAEP with SHA-256 needs more than 784 bits. Above 8192 bits, one encryption would hold the event loop too long. */
const [minBits, maxBits] = [1024, 8192]

/**
 * Reads the RSA public key of a receiver: Base64 of its SPKI or PKCS #1 form, with or without the lines of PEM. Returns
 * undefined if it is none, or has too few or too many bits.
 */
export function readPublicKey(text: string): KeyObject | undefined {
  const base64 = text.replaceAll(/-----[A-Z ]+-----|\s/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined
  const der = Buffer.from(base64, 'base64')
  const key = parse(der, 'spki') ?? parse(der, 'pkcs1')
  const bits = key?.asymmetricKeyDetails?.modulusLength ?? 0
  return key?.asymmetricKeyType === 'rsa' && minBits <= bits && bits <= maxBits ? key : undefined
}

function parse(key: Buffer, type: 'spki' | 'pkcs1'): KeyObject | undefined {
  try {
    return createPublicKey({ key, format: 'der', type })
  } catch {
    return undefined
  }
}
