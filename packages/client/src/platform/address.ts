const accepted = 'url must be the address of the server, such as https://plenum.example.com'

/** Parses the address of a server. In a web page it may be relative. Throws a `TypeError` that says what is wrong. */
export function parseAddress(url: unknown): URL {
  if (typeof url !== 'string') throw new TypeError(`${accepted}, not ${typeof url}.`)
  const page = globalThis.location?.href
  const isRelative = page !== undefined && url.startsWith('/')
  const address = parse(url, isRelative ? page : undefined)
  if (!address) throw new TypeError(`${accepted}, not ${redacted(url)}.${hintFor(url)}`)
  if (address.protocol !== 'http:' && address.protocol !== 'https:')
    throw new TypeError(`url must begin with http:// or https://, not ${redacted(url)}.`)
  if (address.username !== '' || address.password !== '')
    throw new TypeError('url must not contain a user name or a password.')
  if (address.search !== '' || address.hash !== '')
    throw new TypeError(`url must not have a query or a fragment. Use ${redacted(url)}.`)
  if (/\/realtime\/*$/.test(address.pathname))
    throw new TypeError(`url must not end with /realtime: the client adds it. You passed ${redacted(url)}.`)
  return address
}

function parse(url: string, base: string | undefined): URL | undefined {
  try {
    return new URL(url, base)
  } catch {
    return undefined
  }
}

const hintFor = (url: string) =>
  url.startsWith('/')
    ? ' A relative address works only in a web page.'
    : ' It must begin with http:// or https://.'

/** Quotes an address without its credentials, query and fragment, which may be secret. */
const redacted = (url: string) =>
  JSON.stringify(
    url
      .replace(/[?#].*$/s, '')
      .replace(/\/\/.*@/s, '//')
      .slice(0, 100),
  )
