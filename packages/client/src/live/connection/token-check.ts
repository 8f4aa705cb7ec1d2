const jwtPattern = /^[\w-]+\.[\w-]+\.[\w-]+$/

/**
 * Returns why a value cannot be a user token, without any part that may be secret. Returns undefined if the value may be a
 * user token.
 */
export function findTokenFault(token: unknown): string | undefined {
  if (typeof token !== 'string') return `The token must be a string, not ${describe(token)}`
  if (token === '') return 'The token is an empty string. Is the user signed in?'
  if (jwtPattern.test(token)) return isAuthToken(token) ? authTokenFault : undefined
  const text = token.trimStart()
  if (text.startsWith('<')) {
    const tag = text.slice(0, 20).replace(/>.*$/s, '>')
    return `The token is not a JWT: it begins with \`${tag}\`. Does your token endpoint answer with a web page?`
  }
  const fault = `The token is not a JWT: it is a string of ${token.length} characters`
  if (/^[{["]/.test(text)) return `${fault} that looks like JSON. Parse it and pass the token inside.`
  if (/\s/.test(token)) return `${fault} with white space. Does your token endpoint answer with an error?`
  return `${fault}. Pass a token from auth.generateToken.`
}

const authTokenFault =
  'This is the auth token of an API key, which must stay in your backend. Connect with a user token, which your backend gets from auth.generateToken.'

/** User tokens are signed with ES256; the auth tokens of API keys and workspaces with HS256. */
const isAuthToken = (token: string) => decodePart(token, 0)?.alg === 'HS256'

function describe(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'token' in value)
    return 'an object. Pass its field `token`.'
  return `${value === null ? 'null' : typeof value}. Pass a token from auth.generateToken, or a callback that returns one.`
}

/** Returns the expiry that the token itself states, as an ISO date, or undefined if the token states none. */
export function expiryOf(token: string): string | undefined {
  const { exp } = decodePart(token, 1) ?? {}
  return typeof exp === 'number' ? new Date(exp * 1000).toISOString() : undefined
}

/** Returns the header (0) or the claims (1) of a JWT, or undefined if that part is not readable. */
function decodePart(token: string, index: 0 | 1): Record<string, unknown> | undefined {
  try {
    const part: unknown = JSON.parse(
      atob((token.split('.')[index] ?? '').replaceAll('-', '+').replaceAll('_', '/')),
    )
    return typeof part === 'object' && part !== null ? (part as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
