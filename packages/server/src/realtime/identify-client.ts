import type { IncomingHttpHeaders } from 'node:http'
import { claimedApiKey } from '../access/tokens/token-claims.ts'
import type { Log } from '../platform/log/log.ts'
import {
  Denial,
  identifyBackend,
  identifyUser,
  type Identity,
  type IdentityDeps,
} from './authorization/identity.ts'
import type { OpenPage } from './authorization/open-pages.ts'
import type { DialectClient } from './dialects/dialect.ts'
import type { RealtimeServices } from './editors/realtime-services.ts'
import type { Connection } from './sockets/connection.ts'

export interface IdentifyDeps extends IdentityDeps {
  services: RealtimeServices
  log: Log
}

interface IdentifiedClient extends OpenPage {
  readonly connection: Connection
  readonly dialect: DialectClient
  identify(token: string): Promise<Identity>
}

/** Identifies the client by a token and makes it the owner of the connection. Throws a `Denial`. */
export async function identifyByToken(
  deps: IdentifyDeps,
  connection: Connection,
  token: string,
  page: OpenPage,
): Promise<Identity> {
  try {
    const identify = () => identifyUser(deps, token, page)
    const identity = await deps.services.gate.run(claimedApiKey(token), identify, connection.id)
    connection.owner = identity
    return identity
  } catch (error) {
    if (error instanceof Denial) throw error
    deps.log.error({ err: error }, 'checking a token failed')
    throw new Denial('unavailable', 'The token could not be checked.')
  }
}

/**
 * Identifies the client by the headers or the token of its upgrade request, if it has either. Other clients identify
 * themselves by their first message. Resolves with false if the client is denied.
 */
export async function identifyByRequest(
  deps: IdentifyDeps,
  client: IdentifiedClient,
  headers: IncomingHttpHeaders,
  token: string | null,
): Promise<boolean> {
  const { connection, dialect } = client
  try {
    const backend = await identifyBackend(deps, headers, client)
    if (backend) {
      connection.owner = backend
      dialect.onIdentified(backend)
    } else if (token !== null) {
      dialect.onIdentified(await client.identify(token))
    } else if (dialect.needsToken) {
      throw new Denial('unauthenticated', 'token_missing: The URL has no token.')
    }
    return true
  } catch (error) {
    if (!(error instanceof Denial)) throw error
    dialect.deny(error.reason, error.message)
    return false
  }
}
