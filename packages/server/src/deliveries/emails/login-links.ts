import { sealContexts } from '../../access/credentials/seal-contexts.ts'
import type { Secrets } from '../../access/credentials/secrets.ts'

/** A login link contains a secret, so it is stored encrypted until it is sent. */
export const sealLoginLink = (secrets: Secrets, email: string, url: string): string =>
  Buffer.from(secrets.seal(url, sealContexts.loginLink(email))).toString('base64')

export const unsealLoginLink = (secrets: Secrets, email: string, sealedUrl: string): string =>
  secrets.unseal(Buffer.from(sealedUrl, 'base64'), sealContexts.loginLink(email)).toString()
