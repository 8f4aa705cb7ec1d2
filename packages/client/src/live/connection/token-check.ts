const jwt = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Why this cannot be a user token; undefined if it may be one. Never shows what may be part of a secret. */
export function faultOfToken(token: unknown): string | undefined {
  if (typeof token !== 'string') return `The token must be a string, not ${kindOf(token)}`
  if (token === '') return 'The token is an empty string. Is the user signed in?'
  if (jwt.test(token)) return isAuthToken(token) ? authToken : undefined
  const text = token.trimStart()
  if (text.startsWith('<')) {
    const tag = text.slice(0, 20).replace(/>.*$/s, '>')
    return `This is not a JWT: it begins with \`${tag}\`. Does the address of your token answer with a page?`
  }
  const fault = `This is not a JWT: it is a string of ${token.length} characters`
  if (/^[{["]/.test(text)) return `${fault} that looks like JSON. Parse it and give the token inside.`
  if (/\s/.test(token))
    return `${fault} with white space. Does the address of your token answer with an error?`
  return `${fault}. Give a token of auth.generateToken.`
}

const authToken =
  'This is the auth token of an API key, which only your backend may have. Connect with a user token: your backend gets one with auth.generateToken.'

/** User tokens are signed with ES256, those of API keys and workspaces with HS256. */
const isAuthToken = (token: string) => partOf(token, 0)?.alg === 'HS256'

function kindOf(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'token' in value)
    return 'an object. Give its field `token`.'
  return `${value === null ? 'null' : typeof value}. Give a token of auth.generateToken, or a callback that returns one.`
}

/** When the token says that it expires, as a date for people; undefined if it does not say so. */
export function expiryOf(token: string): string | undefined {
  const { exp } = partOf(token, 1) ?? {}
  return typeof exp === 'number' ? new Date(exp * 1000).toISOString() : undefined
}

/** Header or claims; undefined if they cannot be read. */
function partOf(token: string, index: 0 | 1): Record<string, unknown> | undefined {
  try {
    const part: unknown = JSON.parse(
      atob((token.split('.')[index] ?? '').replaceAll('-', '+').replaceAll('_', '/')),
    )
    return typeof part === 'object' && part !== null ? (part as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
