import { ApiError, type Operations } from '@plenum/protocol'
import type { Handlers } from '../calls/call.ts'
import { partial } from '../calls/answers/reply.ts'
import * as domains from '../store/domains.ts'
import { normalizeAll, normalizeAllNew } from './shared/allowed-domains.ts'

export const domainHandlers: Handlers<Operations['domains']> = {
  async add({ input, caller: { apiKey }, db, signal }) {
    const wanted = normalizeAllNew(input.domains)
    const domainsAdded = await domains.add(db, apiKey, wanted)
    // Without domains every origin is allowed. So the first domain closes the open connections of pages from other origins.
    signal({ kind: 'domains' })
    const skippedDomains = wanted.filter((domain) => !domainsAdded.includes(domain))
    if (skippedDomains.length === 0) return { domainsAdded }
    return partial(
      new ApiError('INTERNAL', 'Domain(s) added successfully to allowed domains. Skipped existing domains.', {
        details: { domainsAdded, skippedDomains },
      }),
    )
  },

  async get({ caller: { apiKey }, db }) {
    return { allowedDomains: await domains.all(db, apiKey) }
  },

  async delete({ input, caller: { apiKey }, db, signal }) {
    const wanted = normalizeAll(input.domains)
    const domainsRemoved = await domains.remove(db, apiKey, wanted)
    signal({ kind: 'domains' })
    const skippedDomains = wanted.filter((domain) => !domainsRemoved.includes(domain))
    if (skippedDomains.length === 0) return { domainsRemoved }
    return partial(
      new ApiError(
        'INTERNAL',
        'Domain(s) removed successfully from allowed domains. Skipped non-existing domains.',
        { details: { domainsRemoved, skippedDomains } },
      ),
    )
  },
}
