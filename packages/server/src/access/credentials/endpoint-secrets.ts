import { randomBytes } from 'node:crypto'
import type { SealedSecrets } from '../../store/webhooks/endpoints.ts'
import { sealContexts } from './seal-contexts.ts'
import type { Secrets } from './secrets.ts'

/** How long the old secret of an endpoint signs too after a rotation (spec 24.19). */
const overlapMs = 24 * 60 * 60 * 1000

/** A new secret of an endpoint, as receivers use it, and sealed. */
export function newEndpointSecret(secrets: Secrets, apiKey: string, endpointId: string) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  return { secret, sealed: secrets.seal(secret, sealContexts.endpointSecret(apiKey, endpointId)) }
}

/** The sealed secrets after a rotation at this time. */
export const rotated = ({ secret }: SealedSecrets, sealed: Uint8Array, now: number): SealedSecrets => ({
  secret: sealed,
  previousSecret: secret,
  previousUntil: now + overlapMs,
})

/** The secrets that sign a delivery at this time: the current one first. */
export function signingSecrets(
  secrets: Secrets,
  apiKey: string,
  { endpointId, secret, previousSecret, previousUntil }: SealedSecrets & { endpointId: string },
  now: number,
): string[] {
  const isPreviousValid = previousSecret !== null && previousUntil !== null && now < previousUntil
  return [secret, ...(isPreviousValid ? [previousSecret] : [])].map((sealed) =>
    secrets.unseal(sealed, sealContexts.endpointSecret(apiKey, endpointId)).toString(),
  )
}
