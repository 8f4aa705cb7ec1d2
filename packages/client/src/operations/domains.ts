// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'
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

/** The web domains whose pages may use an API key. While the list is empty, all may. */
export interface DomainsOperations {
  /**
   * Allows browsers of further domains to use the API key. Entries may be URLs or hosts; protocol, `www`,
   * port and path are stripped. `*.example.com` allows everything below `example.com`. Domains that are on
   * the list already are skipped: the answer is then an error that names them, and the others are added all
   * the same. An invalid entry refuses the whole call.
   *
   * `POST /v2/workspace/domains/add`
   */
  add(input: DomainsAddInput, options?: CallOptions): Promise<Result<DomainsAddOutput>>
  /**
   * Reads the domains whose browsers may use the API key. In the order in which they were added. An empty
   * list means that every domain may.
   *
   * `POST /v2/workspace/domains/get`
   */
  get(input?: DomainsGetInput, options?: CallOptions): Promise<Result<DomainsGetOutput>>
  /**
   * Takes domains off the list. Entries are read as when adding, and removed by that exact form: removing
   * `x.com` leaves `*.x.com`. Domains that are not on the list are skipped: the answer is then an error that
   * names them, and the others are removed all the same. Removing the last domain lets every domain in.
   *
   * `POST /v2/workspace/domains/delete`
   */
  delete(input: DomainsDeleteInput, options?: CallOptions): Promise<Result<DomainsDeleteOutput>>
}
