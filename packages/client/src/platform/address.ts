const accepted = 'url must be the address of the server, such as https://plenum.example.com'

/** The address of a server. In pages it may be relative. Throws an error that says what is wrong with it. */
export function parseAddress(url: unknown): URL {
  if (typeof url !== 'string') throw new TypeError(`${accepted}, not ${typeof url}.`)
  const page = globalThis.location?.href
  const isRelative = page !== undefined && url.startsWith('/')
  const address = parse(url, isRelative ? page : undefined)
  if (!address) throw new TypeError(`${accepted}, not ${shown(url)}.${relativeHint(url)}`)
  if (address.protocol !== 'http:' && address.protocol !== 'https:')
    throw new TypeError(`url must begin with http:// or https://, not ${shown(url)}.`)
  if (address.username !== '' || address.password !== '')
    throw new TypeError('url must not contain a user name or a password.')
  if (address.search !== '' || address.hash !== '')
    throw new TypeError(`url must end before "?" and "#": give ${shown(url.replace(/[?#].*$/s, ''))}.`)
  if (/\/realtime\/*$/.test(address.pathname))
    throw new TypeError(`url must not end with /realtime, which the client adds itself: ${shown(url)}.`)
  return address
}

function parse(url: string, base: string | undefined): URL | undefined {
  try {
    return new URL(url, base)
  } catch {
    return undefined
  }
}

const relativeHint = (url: string) =>
  url.startsWith('/') ? ' A relative address works only in a page.' : ' It begins with http:// or https://.'

/** A password that stands before the host is left out, and what follows a question mark. */
const shown = (url: string) =>
  JSON.stringify(
    url
      .replace(/[?#].*$/s, '')
      .replace(/\/\/.*@/s, '//')
      .slice(0, 100),
  )
