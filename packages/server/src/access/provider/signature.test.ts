import { expect, test } from 'vitest'
import { createSecrets } from '../credentials/secrets.ts'
import { isSignatureOf, signPermissions } from './signature.ts'

/** The check vector of spec 7.6.2. */
const secretKey = '0123456789abcdef0123456789abcdef'
const key = createSecrets(secretKey).permissionSignatureKey('key_1')
const entries = [
  {
    userId: 'user_1',
    resourceId: 'doc_1',
    type: 'document',
    hasAccess: true,
    accessRole: 'viewer',
    expiresAt: 1893456000000,
  },
  { type: 'organization', hasAccess: false, resourceId: 'org "1"', userId: 'Zoë' },
] as const
const signature = '92894bef53ed7572534057f5c62fe34924238cbd4cd8164299b3d80ec9a06e26'

test('[7.6.2] the check vector has its signature', () => {
  expect(signPermissions(key, entries)).toBe(signature)
})

test('[7.6.1] the order of keys and keys that are not signed do not change the signature', () => {
  const other = entries.map((entry) => ({
    organizationId: 'org_1',
    ...Object.fromEntries(Object.entries(entry).toReversed()),
  }))
  expect(signPermissions(key, other as never)).toBe(signature)
})

test('[7.6.1] a signature belongs to its entries, their order and its API key', () => {
  const [first, second] = entries
  expect(isSignatureOf(signature, key, entries)).toBe(true)
  expect(isSignatureOf(signature, key, [second, first])).toBe(false)
  expect(isSignatureOf(signature, key, [first])).toBe(false)
  expect(isSignatureOf(signature, key, [{ ...first, hasAccess: false }, second])).toBe(false)
  const otherKey = createSecrets(secretKey).permissionSignatureKey('key_2')
  expect(isSignatureOf(signature, otherKey, entries)).toBe(false)
  for (const wrong of ['', signature.slice(1), signature.toUpperCase(), `é${signature.slice(2)}`]) {
    expect(isSignatureOf(wrong, key, entries)).toBe(false)
  }
})
