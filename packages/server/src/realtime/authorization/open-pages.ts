import { setImmediate } from 'node:timers/promises'
import { originAllowed } from '../../access/domains/domains.ts'
import { isOwnPage, type Page, pageMayConnect } from '../../access/domains/origins.ts'
import type { Bus } from '../../platform/bus.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Database } from '../../store/engine/db.ts'
import * as domains from '../../store/domains.ts'

/** A browser page with an open connection. */
export interface OpenPage extends Page {
  readonly isOpen: boolean
  /** Its origin is not allowed any more. */
  close(): void
}

export interface OpenPagesParts {
  database: Database
  bus: Bus
  log: Log
  publicOrigins: readonly string[]
}

/** Pages that are checked in one piece. */
const pagesPerTurn = 100
const retryMs = 1_000

/** Which pages are connected with which API key: those whose origin is not allowed any more are closed. */
export class OpenPages {
  readonly #parts: OpenPagesParts
  readonly #pages = new Map<string, Set<OpenPage>>()
  readonly #keysOf = new Map<OpenPage, Set<string>>()
  readonly #unsubscribe: () => void

  constructor(parts: OpenPagesParts) {
    this.#parts = parts
    this.#unsubscribe = parts.bus.subscribe(({ kind, apiKey }) => {
      if (kind === 'domains') void this.#check(apiKey)
    })
  }

  /** Whether the page may use the API key. If so, it is closed as soon as it may not. */
  async admit(apiKey: string, page: OpenPage): Promise<boolean> {
    if (page.origin === undefined) return true
    // Before it is checked: a domain that is removed right after the check would go unnoticed.
    if (page.isOpen) {
      this.#pages.set(apiKey, (this.#pages.get(apiKey) ?? new Set()).add(page))
      this.#keysOf.set(page, (this.#keysOf.get(page) ?? new Set()).add(apiKey))
    }
    const { database, publicOrigins } = this.#parts
    return pageMayConnect(database.read, apiKey, page, publicOrigins)
  }

  /** The page is gone. */
  leave(page: OpenPage): void {
    for (const apiKey of this.#keysOf.get(page) ?? []) {
      const pages = this.#pages.get(apiKey)
      if (pages?.delete(page) && pages.size === 0) this.#pages.delete(apiKey)
    }
    this.#keysOf.delete(page)
  }

  async #check(apiKey: string): Promise<void> {
    const { database, publicOrigins, log } = this.#parts
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
      log.error({ err: error }, 'allowed domains could not be read')
      setTimeout(() => void this.#check(apiKey), retryMs).unref()
    }
  }

  close(): void {
    this.#unsubscribe()
  }
}
