import type { ClientMessage, ServerMessage } from '@plenum/protocol/realtime'
import { SubscribedList, type SubscribedListDeps } from '../subscribed-list.ts'
import { type LiveList, type LiveListState, unloadedList } from './live-list.ts'
import type { ListKind } from './list-kinds.ts'

/** Items that are loaded at once. */
const pageSize = 50
/** The most that one call returns. */
const maxPageSize = 200
/** The most ids that one call reads. */
const maxIds = 30
/** After a load from the first page, the next one waits for this many times its duration. */
const restFactor = 4
/** Timers cannot wait much longer. */
const maxTimerMs = 24 * 60 * 60 * 1000

/** Loads the first items, and then applies what the server says. */
export class ListSession<Item extends object>
  extends SubscribedList<LiveListState<Item>>
  implements LiveList<Item>
{
  readonly #kind: ListKind<Item>
  /** How many items are wanted: `loadMore` adds a page. */
  #wanted = pageSize
  /** Whether the list must be read from its first page. */
  #isStale = true
  /** Whether loaded items may be gone. */
  #needsCheck = false
  /** What the server said since the last load. */
  #changed: Item[] = []
  #nextPageToken: string | undefined
  /** When the list may be read from its first page again. */
  #restsUntil = 0
  #restTimer: ReturnType<typeof setTimeout> | undefined
  #accessTimer: ReturnType<typeof setTimeout> | undefined

  constructor(organizationId: string, kind: ListKind<Item>, deps: SubscribedListDeps) {
    super(unloadedList, organizationId, deps)
    this.#kind = kind
  }

  get items(): readonly Item[] {
    return this.state.items
  }

  get hasMore(): boolean {
    return this.state.hasMore
  }

  async loadMore(): Promise<void> {
    if (!this.hasMore) return
    this.#wanted = this.items.length + pageSize
    await this.reload(true)
  }

  protected openMessage(id: number): ClientMessage {
    return { type: 'openList', id, organizationId: this.organizationId, list: this.#kind.list }
  }

  protected closeMessage(): ClientMessage {
    return { type: 'closeList', organizationId: this.organizationId, list: this.#kind.list }
  }

  protected onOpened(): void {
    this.#readAgain()
  }

  /** The server says what changed. */
  onChanged({ reset, items, recheck }: ServerMessage & { type: 'listChanged' }): void {
    if (!this.isUsed) return
    if (reset) {
      this.#restTimer ??= setTimeout(() => {
        this.#restTimer = undefined
        this.#readAgain()
      }, this.#restsUntil - Date.now())
      return
    }
    this.#changed.push(...(items as Item[]))
    this.#needsCheck ||= recheck
    void this.reload()
  }

  protected async load(): Promise<Partial<LiveListState<Item>>> {
    const [isStale, needsCheck, changed] = [this.#isStale, this.#needsCheck, this.#changed]
    this.#isStale = this.#needsCheck = false
    this.#changed = []
    try {
      return await (isStale ? this.#loadFirst() : this.#update(changed, needsCheck))
    } catch (error) {
      this.#isStale ||= isStale
      this.#needsCheck ||= needsCheck
      this.#changed = [...changed, ...this.#changed]
      throw error
    }
  }

  #readAgain(): void {
    this.#isStale = true
    this.#wanted = Math.max(pageSize, this.items.length)
    void this.reload(true)
  }

  async #loadFirst(): Promise<Partial<LiveListState<Item>>> {
    const startedAt = Date.now()
    const loaded = await this.#loadPages([], null)
    this.#restsUntil = Date.now() + restFactor * (Date.now() - startedAt)
    return loaded
  }

  /** Applies what changed, and loads further pages if more items are wanted than there are. */
  async #update(changed: readonly Item[], needsCheck: boolean): Promise<Partial<LiveListState<Item>>> {
    const items = this.#merged(changed)
    const current = needsCheck ? await this.#stillThere(items) : items
    return this.#loadPages(current, this.#nextPageToken)
  }

  /**
   * Loads pages behind `items` until there are enough: a page may have few items, although others follow. `after`: the
   * token of the next page; null: the first one; undefined: there is none.
   */
  async #loadPages(items: Item[], after: string | null | undefined): Promise<Partial<LiveListState<Item>>> {
    const { idOf } = this.#kind
    const known = new Set(items.map(idOf))
    let next = after
    while (next === null || (next !== undefined && items.length < this.#wanted)) {
      const size = Math.min(maxPageSize, this.#wanted - items.length)
      const page = await this.#read({ pageSize: size, ...(next !== null && { pageToken: next }) })
      items.push(...page.data.filter((item) => !known.has(idOf(item))))
      next = page.nextPageToken
    }
    this.#nextPageToken = next
    this.#watchAccess(items)
    return { items, hasMore: next !== undefined }
  }

  /** The loaded items with the changed ones. Items behind the last loaded one come with `loadMore`. */
  #merged(changed: readonly Item[]): Item[] {
    const { idOf, compare } = this.#kind
    const byId = new Map(this.items.map((item) => [idOf(item), item]))
    const last = this.hasMore ? this.items.at(-1) : undefined
    for (const item of changed)
      if (byId.has(idOf(item)) || !last || compare(item, last) < 0) byId.set(idOf(item), item)
    return [...byId.values()].sort(compare)
  }

  async #stillThere(items: readonly Item[]): Promise<Item[]> {
    const { idOf, filter } = this.#kind
    const found = new Map<string, Item>()
    for (let from = 0; from < items.length; from += maxIds) {
      const ids = items.slice(from, from + maxIds).map(idOf)
      const { data } = await this.#read({ [filter]: ids, pageSize: maxIds })
      for (const item of data) found.set(idOf(item), item)
    }
    return items.flatMap((item) => found.get(idOf(item)) ?? [])
  }

  #read(input: object) {
    return this.#kind.read(this.deps.operations, { organizationId: this.organizationId, ...input })
  }

  /** Nobody tells when a grant expires. */
  #watchAccess(items: readonly Item[]): void {
    clearTimeout(this.#accessTimer)
    const end = Math.min(...items.map((item) => this.#kind.accessUntil?.(item) ?? Infinity))
    if (end === Infinity || !this.isUsed) return
    const delay = Math.min(maxTimerMs, Math.max(1_000, end * 1000 - Date.now()))
    this.#accessTimer = setTimeout(() => {
      this.#needsCheck = true
      void this.reload()
    }, delay)
  }

  protected override stopLoading(): void {
    super.stopLoading()
    clearTimeout(this.#restTimer)
    clearTimeout(this.#accessTimer)
    this.#restTimer = undefined
  }
}
