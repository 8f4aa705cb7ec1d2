import { ApiError } from '@plenum/protocol'
import { normalizeDomain } from '../../access/domains/domains.ts'
import { unique } from './batches.ts'

/** The stored form of each domain, without duplicates. Throws if one of them is invalid (spec 2). */
export const normalizeAll = (entries: readonly string[]): string[] =>
  unique(
    entries.map((entry) => {
      const domain = normalizeDomain(entry)
      if (domain === null) throw new ApiError('INVALID_ARGUMENT', `Invalid domain: ${entry}`)
      return domain
    }),
  )
