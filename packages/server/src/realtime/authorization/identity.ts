import type { IncomingHttpHeaders } from 'node:http'
import type { CloseReason } from '@plenum/protocol/realtime'
import { backendUserIds } from '../../access/backend-users.ts'
import type { Credentials } from '../../access/credentials/credentials.ts'
import type { LargeDeletions } from '../../deletions/large-deletions.ts'
import { apiKeyOfBackend, presentedCredentials } from '../../access/credentials/backend-credentials.ts'
import type { SessionUser } from '../../access/sessions/session-access.ts'
import { matchesAny } from '../../access/credentials/auth-tokens.ts'
import { signIn } from '../../access/sessions/sign-in.ts'
import { membershipMessages } from '../../access/sessions/membership-messages.ts'
import type { VerifiedUser } from '../../access/tokens/token-claims.ts'
import { TokenError, type UserTokens } from '../../access/tokens/user-tokens.ts'
import type { Signals } from '../../peers/signals.ts'
import { mayBeCommitted, whenCertain } from '../../store/engine/certainty.ts'
import type { Database, Db } from '../../store/engine/db.ts'
import { type Look, lookOf } from '../../store/users/profiles.ts'
import type { OpenPage, OpenPages } from './open-pages.ts'

/** A user, identified by a token, or a backend, identified by the credentials of the API key. */
export interface Identity {
  readonly apiKey: string
  readonly userId: string
  readonly name: string | undefined
  readonly email: string | undefined
  /** Whether the token says that the user moderates. */
  readonly isAdmin: boolean
  readonly look: Look
  readonly access: SessionUser
  /** Unix seconds. */
  readonly expiresAt: number
  /** Whether the auth token is one of the current tokens of the API key. Defined only for backends. */
  readonly isAccepted?: (tokens: readonly Buffer[]) => boolean
}

/** Why a client is not identified or not authorized. */
export class Denial extends Error {
  readonly reason: CloseReason

  constructor(reason: CloseReason, message: string) {
    super(message)
    this.reason = reason
  }
}

export interface IdentityDeps {
  database: Database
  deletions: LargeDeletions
  credentials: Credentials
  userTokens: UserTokens
  signals: Pick<Signals, 'store' | 'publish'>
  now: () => number
  pages: OpenPages
}

/** The close message for a client that sent no token in time. */
export const noTokenMessage = 'token_missing: The client sent no token in time.'

/** The close message for a page whose origin is not allowed. */
export const originDeniedMessage =
  'The origin is not among the allowed domains of the API key. Add it with /v2/workspace/domains/add.'

/** Throws a `Denial` if a browser's page is not at an allowed domain of the API key. Other clients send no origin. */
async function requireOrigin(pages: OpenPages, apiKey: string, page: OpenPage): Promise<void> {
  if (!(await pages.admit(apiKey, page))) throw new Denial('permissionDenied', originDeniedMessage)
}

/** Verifies the token and signs the user in. Throws a `Denial`. */
export async function identifyUser(
  { database, credentials, deletions, userTokens, signals, now, pages }: IdentityDeps,
  token: string,
  page: OpenPage,
): Promise<Identity> {
  if (token === '') throw new Denial('unauthenticated', 'token_missing: The client sent no token.')
  const user = await userTokens.verify(token, now()).catch((error: unknown) => {
    if (error instanceof TokenError) throw new Denial('unauthenticated', `${error.code}: ${error.message}`)
    throw error
  })
  const known = await credentials.apiKey(user.apiKey)
  if (!known) throw new Denial('unauthenticated', 'token_invalid: There is no such API key.')
  await requireOrigin(pages, user.apiKey, page)
  const { apiKey, resources } = user
  if (deletions.mayAffect(known.caller) && (await deletions.affects(apiKey, organizationsIn(resources)))) {
    throw new Denial('restarting', 'An organization of the token is being deleted. Connect again.')
  }
  const changed = membershipMessages(apiKey, user)
  const publish = () => signals.publish(changed)
  const store = (db: Db) => signals.store(db, changed)
  const { hasChangedAccess, look } = await signIn(database, known.caller, user, now(), store).catch(
    (error: unknown) => {
      if (mayBeCommitted(error)) void whenCertain(database).then(publish)
      throw error
    },
  )
  if (hasChangedAccess) publish()
  return userIdentity(user, look)
}

export function userIdentity(user: VerifiedUser, look: Look = lookOf(user.userId, {})): Identity {
  const { apiKey, userId, name, email, isAdmin, resources, isLimited, expiresAt } = user
  return { apiKey, userId, name, email, isAdmin, look, access: { userId, resources, isLimited }, expiresAt }
}

/** The organizations that signing in creates if they are missing, and that the user becomes a member of. */
const organizationsIn = (resources: VerifiedUser['resources']) => ({
  isLive: true as const,
  organizationIds: resources.flatMap(({ type, id }) => (type === 'organization' ? id : [])),
  documentIds: [],
  folderIds: [],
})

/** Returns the backend whose credentials are in the headers, or undefined without an auth token. Throws a `Denial`. */
export async function identifyBackend(
  { credentials, pages }: IdentityDeps,
  headers: IncomingHttpHeaders,
  page: OpenPage,
): Promise<Identity | undefined> {
  if (headers['x-svc-auth-token'] === undefined) return undefined
  const { token = '' } = presentedCredentials(headers)
  const backend = await apiKeyOfBackend(credentials, headers)
  if (!backend) throw new Denial('unauthenticated', 'token_invalid: Invalid API key or auth token.')
  await requireOrigin(pages, backend.apiKey, page)
  return { ...backendIdentity(backend.apiKey), isAccepted: (tokens) => matchesAny(token, tokens) }
}

export const backendIdentity = (apiKey: string): Identity => ({
  apiKey,
  userId: backendUserIds.socket,
  name: undefined,
  email: undefined,
  isAdmin: false,
  look: lookOf(backendUserIds.socket, {}),
  access: 'backend',
  expiresAt: Infinity,
})
