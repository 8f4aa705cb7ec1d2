import { ApiError, type Operations } from '@plenum/protocol'
import { normalizeDomain } from '../access/domains/domains.ts'
import { type Handlers, partial } from '../calls/call.ts'
import * as domains from '../store/domains.ts'
import { unique } from './batches.ts'

export const domainHandlers: Handlers<Operations['domains']> = {
  async add({ input, caller: { apiKey }, db, emit }) {
    const wanted = normalizeAll(input.domains)
    const domainsAdded = await domains.add(db, apiKey, wanted)
    // The first one ends that every origin is allowed.
    emit({ kind: 'domains' })
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

  async delete({ input, caller: { apiKey }, db, emit }) {
    const wanted = normalizeAll(input.domains)
    const domainsRemoved = await domains.remove(db, apiKey, wanted)
    emit({ kind: 'domains' })
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

/** The stored form of each entry, once; one that is no domain refuses all of them (spec 2). */
export const normalizeAll = (entries: readonly string[]): string[] =>
  unique(
    entries.map((entry) => {
      const domain = normalizeDomain(entry)
      if (domain === null) throw new ApiError('INVALID_ARGUMENT', `Invalid domain: ${entry}`)
      return domain
    }),
  )
