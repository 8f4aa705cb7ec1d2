import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ProviderPermission } from '@plenum/protocol'

/** The fields that a signature covers, sorted. */
const signedFields = ['accessRole', 'expiresAt', 'hasAccess', 'resourceId', 'type', 'userId'] as const

/** The text that is signed: the entries in their order as JSON without spaces, with sorted keys (spec 7.6.1). */
const canonicalJson = (permissions: readonly ProviderPermission[]): string =>
  // The list selects the keys and gives their order.
  JSON.stringify(permissions, [...signedFields])

export const signPermissions = (key: Buffer, permissions: readonly ProviderPermission[]): string =>
  createHmac('sha256', key).update(canonicalJson(permissions)).digest('hex')

export function isSignatureOf(
  signature: string,
  key: Buffer,
  permissions: readonly ProviderPermission[],
): boolean {
  const expected = Buffer.from(signPermissions(key, permissions))
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
