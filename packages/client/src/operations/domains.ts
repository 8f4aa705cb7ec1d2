// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { NoInput } from './workspace.ts'

export interface DomainsInput {
  /**
   * Domains, as URLs or hosts. `*.example.com` covers all subdomains of `example.com`. From 1 to 100 items.
   * Each: at most 2,000 characters.
   */
  domains: string[]
}

export type DomainsAddInput = DomainsInput

export interface DomainsAddOutput {
  /** The domains that were added, normalized. */
  domainsAdded: string[]
}

export type DomainsGetInput = NoInput

export interface DomainsGetOutput {
  /** The domains whose pages may use the API key. Empty: every domain may. */
  allowedDomains: string[]
}

export type DomainsDeleteInput = DomainsInput

export interface DomainsDeleteOutput {
  /** The domains that were removed, normalized. */
  domainsRemoved: string[]
}

/** The web domains whose pages may use an API key. An empty list allows every domain. */
export interface DomainsOperations {
  /**
   * Allows pages of further domains to use the API key. Entries are URLs or hosts. The server removes
   * protocol, `www`, port and path. `*.example.com` allows all subdomains of `example.com`. An invalid entry
   * fails the whole call. Domains that are already allowed are skipped: the others are added, and the answer
   * is an error that lists the skipped ones.
   *
   * `POST /v2/workspace/domains/add`
   */
  add(input: DomainsAddInput, options?: CallOptions): Promise<Result<DomainsAddOutput>>
  /**
   * Reads the domains whose pages may use the API key. The domains come in the order in which they were
   * added. An empty list allows every domain.
   *
   * `POST /v2/workspace/domains/get`
   */
  get(input?: DomainsGetInput, options?: CallOptions): Promise<Result<DomainsGetOutput>>
  /**
   * Removes domains from the allowed domains. Entries are normalized as in Add Domains and removed by exact
   * match: removing `x.com` keeps `*.x.com`. Domains that are not on the list are skipped: the others are
   * removed, and the answer is an error that lists the skipped ones. Removing the last domain allows every
   * domain.
   *
   * `POST /v2/workspace/domains/delete`
   */
  delete(input: DomainsDeleteInput, options?: CallOptions): Promise<Result<DomainsDeleteOutput>>
}
