import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

const tagBytes = 16

/**
 * Encrypts small values into texts that callers send back. A text is valid in its context only, and nobody else can make one.
 * Equal values in one context have the same text: the initialization vector is the tag of the value (SIV).
 */
export class OpaqueTexts {
  readonly #tagKey: Buffer
  readonly #cipherKey: Buffer

  constructor(key: Uint8Array) {
    const derive = (use: string) => Buffer.from(hkdfSync('sha256', key, 'plenum', use, 32))
    this.#tagKey = derive('opaque texts: tags')
    this.#cipherKey = derive('opaque texts: values')
  }

  seal(value: Uint8Array, context: string): string {
    const tag = this.#tagOf(value, context)
    const cipher = createCipheriv('aes-256-ctr', this.#cipherKey, tag)
    return Buffer.concat([tag, cipher.update(value), cipher.final()]).toString('base64url')
  }

  /** Returns undefined if the text was not sealed in this context. */
  open(text: string, context: string): Buffer | undefined {
    const bytes = Buffer.from(text, 'base64url')
    if (bytes.length <= tagBytes) return undefined
    const tag = bytes.subarray(0, tagBytes)
    const decipher = createDecipheriv('aes-256-ctr', this.#cipherKey, tag)
    const value = Buffer.concat([decipher.update(bytes.subarray(tagBytes)), decipher.final()])
    return timingSafeEqual(this.#tagOf(value, context), tag) ? value : undefined
  }

  #tagOf(value: Uint8Array, context: string): Buffer {
    // The length keeps the context and the value apart.
    const mac = createHmac('sha256', this.#tagKey).update(`${Buffer.byteLength(context)} ${context}`)
    return mac.update(value).digest().subarray(0, tagBytes)
  }
}
