import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OpaqueTexts } from '../../platform/opaque-texts.ts'
import { OpenError } from '../../store/engine/failures.ts'

/** The keys that are derived from `SECRET_KEY`: one for each use, so that a value for one use is invalid for the others. */
export interface Secrets {
  /** Signs the auth tokens of workspaces and API keys. */
  readonly authTokenKey: Buffer
  /** Encrypts page tokens. */
  readonly pageTokens: OpaqueTexts
  /** Signed page tokens before they were encrypted. */
  readonly pageTokenKey: Buffer
  /** Signs the links with which recipients of mails unsubscribe (spec 3.5). */
  readonly unsubscribeKey: Buffer
  /** Hashes the addresses of clients whose calls are counted. */
  readonly addressKey: Buffer
  /** Signs the answers of the permission provider of an API key (spec 7.6). */
  permissionSignatureKey(apiKey: string): Buffer
  /** Encrypts and authenticates a value. `context` names the row and field, so the sealed value is invalid in any other. */
  seal(plain: string | Uint8Array, context: string): Uint8Array
  /** Throws if the bytes were sealed with another secret or for another context. */
  unseal(sealed: Uint8Array, context: string): Buffer
}

export function createSecrets(secretKey: string): Secrets {
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', secretKey, 'plenum', use, 32))
  const sealKey = derive('seal 1')
  return {
    authTokenKey: derive('auth tokens 1'),
    pageTokens: new OpaqueTexts(derive('page tokens 2')),
    pageTokenKey: derive('page tokens 1'),
    unsubscribeKey: derive('unsubscribe tokens 1'),
    addressKey: derive('client addresses 1'),
    permissionSignatureKey: (apiKey) => derive(`permission signatures 1 ${apiKey}`),
    seal(plain, context) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', sealKey, nonce).setAAD(Buffer.from(context))
      // The first byte is the number of the seal key, so that another key can be added later.
      return Buffer.concat([Buffer.of(1), nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    },
    unseal(sealed, context) {
      const bytes = Buffer.from(sealed)
      if (bytes[0] !== 1 || bytes.length < 29) throw new Error('Not a sealed value.')
      const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(1, 13))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-16))
      return Buffer.concat([decipher.update(bytes.subarray(13, -16)), decipher.final()])
    },
  }
}

/** The secrets of a database: from SECRET_KEY, or from the file beside an embedded database. */
export const loadSecrets = ({
  secretKey,
  dataDir,
}: {
  secretKey?: string | undefined
  dataDir: string
}): Secrets => createSecrets(secretKey ?? loadOrCreateSecretKey(dataDir))

/**
 * The secret key of an embedded database: a file in `dataDir`, generated at the first start, readable only by the server's
 * user.
 */
function loadOrCreateSecretKey(dataDir: string): string {
  const file = join(dataDir, 'secret.key')
  if (existsSync(file)) {
    const secretKey = readFileSync(file, 'utf8').trim()
    if (secretKey.length < 32) throw new OpenError(`${file} is damaged. Restore it from your backup.`)
    return secretKey
  }
  const database = join(dataDir, 'plenum.db')
  if (existsSync(database)) {
    throw new OpenError(
      `${database} exists, but the secret key it was created with, ${file}, does not. Restore the file from your backup, or set SECRET_KEY to its content.`,
    )
  }
  const secretKey = randomBytes(32).toString('base64url')
  writeFileSync(file, `${secretKey}\n`, { mode: 0o600, flag: 'wx', flush: true })
  return secretKey
}
