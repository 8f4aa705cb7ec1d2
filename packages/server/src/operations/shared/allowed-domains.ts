import { ApiError } from '@plenum/protocol'
import { normalizeDomain, normalizeNewDomain } from '../../access/domains/domains.ts'
import { unique } from './batches.ts'

type Normalize = (entry: string) => string | null

/** The stored form of each domain, without duplicates. Throws if one of them is invalid (spec 2). */
export const normalizeAll = (entries: readonly string[], normalize: Normalize = normalizeDomain): string[] =>
  unique(
    entries.map((entry) => {
      const domain = normalize(entry)
      if (domain === null) throw new ApiError('INVALID_ARGUMENT', `Invalid domain: ${entry}`)
      return domain
    }),
  )

/** As `normalizeAll`, for domains that are added: they must not be mistakes (spec 2.1). */
export const normalizeAllNew = (entries: readonly string[]): string[] =>
  normalizeAll(entries, normalizeNewDomain)
