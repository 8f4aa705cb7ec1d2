/** The address of a server. In pages it may be relative. */
export function parseAddress(url: unknown): URL {
  const address = parse(url)
  const given = JSON.stringify(url)
  if (!address)
    throw new TypeError(`url must be the address of the server, such as http://localhost:4000, not ${given}.`)
  if (!/^(http|ws)s?:$/.test(address.protocol))
    throw new TypeError(`url must begin with http:// or https://, not ${given}.`)
  return address
}

function parse(url: unknown): URL | undefined {
  try {
    return typeof url === 'string' ? new URL(url, globalThis.location?.href) : undefined
  } catch {
    return undefined
  }
}
