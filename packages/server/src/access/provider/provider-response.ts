import { isProviderResponse } from '@plenum/protocol'
import { checkJson } from '../../platform/json/json-scanner.ts'
import type { AccessRole } from '../permissions.ts'
import { questionKey } from './question.ts'
import { isSignatureOf } from './signature.ts'

/** What the provider has answered to one question. */
export interface ProviderEntry {
  hasAccess: boolean
  accessRole?: AccessRole
  /** Unix milliseconds. */
  expiresAt?: number
}

/** Thrown if the provider has answered, but not as spec 7.8 says. Asking again would not help. */
export class InvalidResponse extends Error {
  override name = 'InvalidResponse'
}

/** Far more than an answer to the largest request has. Reading 1 MiB of JSON within these limits takes 25 ms at most. */
const jsonLimits = { depth: 8, keys: 10_000, values: 10_000 }

/** Returns the entries of the answer by `questionKey`. If an entry is repeated, the first one applies. */
export function readResponse(body: Buffer, signatureKey: () => Buffer): Map<string, ProviderEntry> {
  const response = parse(body)
  if (!isProviderResponse(response)) throw new InvalidResponse('The answer has another form than expected.')
  const { data, signature } = response
  if (signature !== undefined && !isSignatureOf(signature, signatureKey(), data)) {
    throw new InvalidResponse('The signature does not match the answer.')
  }
  return new Map(data.toReversed().map((entry) => [questionKey({ ...entry, id: entry.resourceId }), entry]))
}

function parse(body: Buffer): unknown {
  try {
    checkJson(body, 0, body.length, jsonLimits)
    return JSON.parse(body.toString())
  } catch {
    throw new InvalidResponse('The answer is not JSON, or too large.')
  }
}
