import { hostName } from './domains.ts'

const maxAddressLength = 254
const maxLocalLength = 64

/**
 * Returns the stored form of an email address (spec 1.1): lower case, with the domain in ASCII. Null: the address is
 * invalid.
 */
export function normalizeEmail(value: string): string | null {
  const [local = '', domain = '', ...rest] = value.trim().split('@', 3)
  if (rest.length > 0 || local.length > maxLocalLength) return null
  // Checked before the conversion to lower case, which would turn a Kelvin sign into the `k` of another user's address.
  if (!/^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/.test(local)) return null
  const host = hostName(domain)
  if (host === null || !host.includes('.')) return null
  const email = `${local.toLowerCase()}@${host}`
  return email.length > maxAddressLength ? null : email
}
