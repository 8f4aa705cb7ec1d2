import type { Db } from '../../store/engine/db.ts'
import * as serviceConfigs from '../../store/service-configs.ts'
import type { Service } from '../../store/service-configs.ts'
import { sealContexts } from './seal-contexts.ts'
import type { Secrets } from './secrets.ts'

/**
 * The settings of a service of an API key, such as email. They contain the credential in plain text, so they are never
 * stored in this form.
 */
export interface ServiceSettings<C> {
  readonly enabled: boolean
  readonly config: C
  /** Empty: the service has no credential. */
  readonly credential: string
}

/** Returns undefined if the API key has no settings for the service. */
export async function readSettings<C>(
  db: Db,
  secrets: Secrets,
  apiKey: string,
  service: Service,
): Promise<ServiceSettings<C> | undefined> {
  const found = await serviceConfigs.find<C>(db, apiKey, service)
  if (!found) return undefined
  const { enabled, config, secret } = found
  const credential =
    secret === null ? '' : secrets.unseal(secret, sealContexts.serviceCredential(apiKey, service)).toString()
  return { enabled, config, credential }
}

export async function writeSettings<C>(
  db: Db,
  secrets: Secrets,
  apiKey: string,
  service: Service,
  { enabled, config, credential }: ServiceSettings<C>,
): Promise<void> {
  const secret =
    credential === '' ? null : secrets.seal(credential, sealContexts.serviceCredential(apiKey, service))
  await serviceConfigs.save(db, apiKey, service, { enabled, config, secret })
}

/** Shows six characters of a credential, or none if the credential has at most twelve. */
export function mask(credential: string): string {
  if (credential === '') return ''
  return credential.length <= 12 ? '...' : `${credential.slice(0, 3)}...${credential.slice(-3)}`
}

/** The credential after a change. A caller that sends none, or sends the masked one back, keeps it. */
export const changedCredential = (stored: string, sent: string | undefined): string =>
  sent === undefined || sent === mask(stored) ? stored : sent
