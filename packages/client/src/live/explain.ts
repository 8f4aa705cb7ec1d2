import { ApiError, type ErrorStatus } from '@plenum/protocol/errors'
import { closeCodes } from '@plenum/protocol/realtime'
import type { Ending } from './status.ts'
import { expiryOf } from './connection/token-check.ts'

const statusOf: Readonly<Record<number, ErrorStatus>> = {
  [closeCodes.badMessage]: 'INVALID_ARGUMENT',
  [closeCodes.unauthenticated]: 'UNAUTHENTICATED',
  [closeCodes.permissionDenied]: 'PERMISSION_DENIED',
  [closeCodes.gone]: 'NOT_FOUND',
  [closeCodes.invalidUpdate]: 'INVALID_ARGUMENT',
  [closeCodes.tooMany]: 'RESOURCE_EXHAUSTED',
  [closeCodes.rateLimited]: 'RESOURCE_EXHAUSTED',
}

/** What to do about it. */
const adviceOn: Readonly<Record<number, string>> = {
  [closeCodes.badMessage]: 'Use the same version of the client and the server.',
  [closeCodes.permissionDenied]:
    'Look at the access of the user with permissions.get, and grant it with permissions.add.',
  [closeCodes.gone]: 'Close the document. Opening it again creates a new, empty one.',
  [closeCodes.invalidUpdate]:
    'What was typed stays in `editor.doc`. Reload the page to edit what the server has stored.',
  [closeCodes.tooMany]: 'Close what is not shown, or raise the limit on the server.',
}

const errorFor = ({ code }: Ending, message: string) =>
  new ApiError(statusOf[code] ?? 'UNAVAILABLE', message, { details: { code } })

const reasonIn = ({ code, reason }: Ending) => reason || `The server closed with code ${code}.`

/** Why a document or an editor ended; `name` says which one. */
export function errorOf(ending: Ending, name?: string): ApiError {
  const advice = adviceOn[ending.code]
  const sentences = `${reasonIn(ending)}${advice === undefined ? '' : ` ${advice}`}`
  return errorFor(ending, name === undefined ? sentences : `${name}: ${sentences}`)
}

export interface TokenUse {
  token: string | undefined
  isRenewable: boolean
}

/** Why a connection ended. */
export function connectionError(ending: Ending, use: TokenUse): ApiError {
  if (ending.code === closeCodes.unauthenticated) return errorFor(ending, tokenRefused(ending, use))
  // A connection as a whole is refused for its origin only; documents are refused one by one.
  if (ending.code === closeCodes.permissionDenied) return errorFor(ending, originRefused(ending))
  return errorOf(ending)
}

/** The reason begins with one of the codes `token_missing`, `token_invalid` and `token_expired`. */
function tokenRefused(ending: Ending, { token, isRenewable }: TokenUse): string {
  const [, code, sentence] = /^(token_\w+)(?:: (.*))?$/s.exec(ending.reason) ?? []
  if (code !== 'token_expired') {
    const why = sentence ?? reasonIn(ending)
    return `The server refused the token: ${why} Generate it with auth.generateToken of this server, for an API key that exists.`
  }
  const expiry = token === undefined ? undefined : expiryOf(token)
  const advice = isRenewable
    ? 'The token callback must get a new token each time it is called.'
    : 'Give `token` as a callback that gets a new one.'
  return `The token expired${expiry === undefined ? '' : ` at ${expiry}`}. ${advice}`
}

function originRefused(ending: Ending): string {
  const { origin, hostname } = (globalThis as { location?: Partial<Location> }).location ?? {}
  if (!hostname) return `${reasonIn(ending)} Allow it with client.domains.add({ domains: ['…'] }).`
  return `The page's origin ${origin} is not among the allowed domains of the API key. Allow it with client.domains.add({ domains: ['${hostname}'] }).`
}

export const noConnection = (address: string, why: string, wasConnected: boolean): ApiError =>
  new ApiError(
    'UNAVAILABLE',
    wasConnected
      ? `The connection to ${address} was lost (${why}). It is tried again.`
      : `There is no connection to ${address} (${why}). It is tried again.`,
  )

export const serverSilent = (address: string, attempts: number): ApiError =>
  new ApiError(
    'UNAVAILABLE',
    `Plenum does not answer at ${address} after ${attempts} attempts: is the server running, and is the address right?`,
  )
