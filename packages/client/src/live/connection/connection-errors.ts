import { ApiError } from '@plenum/protocol/errors'
import { closeCodes } from '@plenum/protocol/realtime'
import { endingError, errorWithCode, reasonOf } from '../errors.ts'
import type { Ending } from '../status.ts'
import { expiryOf } from './token-check.ts'

interface TokenUse {
  /** The last token that was used. */
  token: string | undefined
  isRenewable: boolean
}

/** Explains why the server ended the connection, and what to do. */
export function connectionError(ending: Ending, use: TokenUse): ApiError {
  if (ending.code === closeCodes.unauthenticated) return errorWithCode(ending, explainToken(ending, use))
  // The server denies a whole connection only because of its origin. Documents are denied one by one.
  if (ending.code === closeCodes.permissionDenied) return errorWithCode(ending, explainOrigin(ending))
  return endingError(ending)
}

/** The reason begins with one of the codes `token_missing`, `token_invalid` and `token_expired`. */
function explainToken(ending: Ending, { token, isRenewable }: TokenUse): string {
  const [, code, sentence] = /^(token_\w+)(?:: (.*))?$/s.exec(ending.reason) ?? []
  if (code !== 'token_expired') {
    const reason = sentence ?? reasonOf(ending)
    return `The server refused the token: ${reason} Generate one with auth.generateToken on this server, for an existing API key.`
  }
  const expiry = token === undefined ? undefined : expiryOf(token)
  const advice = isRenewable
    ? 'The token callback must return a new token on every call.'
    : 'Pass `token` as a callback that returns a new one.'
  return `The token expired${expiry === undefined ? '' : ` at ${expiry}`}. ${advice}`
}

function explainOrigin(ending: Ending): string {
  const { origin, hostname } = (globalThis as { location?: Partial<Location> }).location ?? {}
  if (!hostname) return `${reasonOf(ending)} Allow it with client.domains.add({ domains: ['…'] }).`
  return `The page's origin ${origin} is not among the allowed domains of the API key. Allow it with client.domains.add({ domains: ['${hostname}'] }).`
}

export const attemptError = (address: string, reason: string, wasConnected: boolean): ApiError =>
  new ApiError(
    'UNAVAILABLE',
    wasConnected
      ? `The connection to ${address} was lost (${reason}). The client reconnects.`
      : `Could not connect to ${address} (${reason}). The client tries again.`,
  )

export const offlineError = (): ApiError =>
  new ApiError('UNAVAILABLE', 'This device is offline. The client reconnects when the network is back.')

export const noAnswerError = (address: string, attempts: number): ApiError =>
  new ApiError(
    'UNAVAILABLE',
    `Plenum does not answer at ${address} after ${attempts} attempts: is the server running, and is the address right?`,
  )
