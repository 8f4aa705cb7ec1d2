import { setImmediate } from 'node:timers/promises'
import { originAllowed } from '../../access/domains/domains.ts'
import { isOwnPage, type Page, pageMayConnect } from '../../access/domains/origins.ts'
import type { Bus } from '../../bus.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Database } from '../../store/engine/db.ts'
import * as domains from '../../store/domains.ts'

/** A browser page with an open connection. */
export interface OpenPage extends Page {
  readonly isOpen: boolean
  /** Closes the page's connection, because its origin is not allowed any more. */
  close(): void
}

export interface OpenPagesDeps {
  database: Database
  bus: Bus
  log: Log
  clock: Clock
  publicOrigins: readonly string[]
}

/** Pages that are checked before other work has its turn. */
const pagesPerTurn = 100
const retryMs = 1_000

/** The connected pages of each API key. Closes a page when its origin is no longer allowed. */
export class OpenPages {
  readonly #deps: OpenPagesDeps
  readonly #pages = new Map<string, Set<OpenPage>>()
  readonly #apiKeysOf = new Map<OpenPage, Set<string>>()
  readonly #unsubscribe: () => void

  constructor(deps: OpenPagesDeps) {
    this.#deps = deps
    this.#unsubscribe = deps.bus.subscribe(({ kind, apiKey }) => {
      if (kind === 'domains') void this.#check(apiKey)
    })
  }

  /** Returns whether the page may use the API key. From then on, the page is closed when its origin is not allowed any more. */
  async admit(apiKey: string, page: OpenPage): Promise<boolean> {
    if (page.origin === undefined) return true
    // Registered before the check, so that the page is also closed if its domain is removed during the check.
    if (page.isOpen) {
      this.#pages.set(apiKey, (this.#pages.get(apiKey) ?? new Set()).add(page))
      this.#apiKeysOf.set(page, (this.#apiKeysOf.get(page) ?? new Set()).add(apiKey))
    }
    const { database, publicOrigins } = this.#deps
    return pageMayConnect(database.read, apiKey, page, publicOrigins)
  }

  /** Called when the page's connection is closed. */
  leave(page: OpenPage): void {
    for (const apiKey of this.#apiKeysOf.get(page) ?? []) {
      const pages = this.#pages.get(apiKey)
      if (pages?.delete(page) && pages.size === 0) this.#pages.delete(apiKey)
    }
    this.#apiKeysOf.delete(page)
  }

  async #check(apiKey: string): Promise<void> {
    const { database, publicOrigins, clock, log } = this.#deps
    if (!this.#pages.has(apiKey)) return
    try {
      const allowed = await domains.all(database.read, apiKey)
      const pages = [...(this.#pages.get(apiKey) ?? [])]
      for (const [index, page] of pages.entries()) {
        if (index % pagesPerTurn === pagesPerTurn - 1) await setImmediate()
        const isAllowed = isOwnPage(page, publicOrigins) || originAllowed(page.origin ?? '', allowed)
        if (!isAllowed) page.close()
      }
    } catch (error) {
      log.error({ err: error }, 'the allowed domains of an API key could not be read')
      clock.setTimeout(() => void this.#check(apiKey), retryMs)
    }
  }

  close(): void {
    this.#unsubscribe()
  }
}
