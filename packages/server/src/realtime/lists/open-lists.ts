import { setImmediate } from 'node:timers/promises'
import type { Bus, BusMessage } from '../../bus.ts'
import type { Clock } from '../../platform/clock.ts'
import { LaneLimiters } from '../../platform/turns/limiter.ts'
import { isLoopLate } from '../../platform/turns/loop-time.ts'

export type ListName = 'documents' | 'people'

/** A list that a client has open. */
export interface OpenList {
  readonly apiKey: string
  readonly organizationId: string
  readonly userId: string
  readonly list: ListName
  /** Tells the client what changed. Without `ids`: anything may have changed. Does not reject. */
  onChanged(ids: readonly string[] | undefined): Promise<void>
}

/** The ids that changed. `all`: it is not known what changed, or it is much. */
type Changed = ReadonlySet<string> | 'all'

/** What changes within this time is told together. */
const gatherMs = 20
/** A list is told of changes at most this often. */
const intervalMs = 1_000
/** If more ids change meanwhile, the client reads the list again. */
const maxChangedIds = 30
/** Telling a list runs a read as its user. */
const maxReadsPerKey = 4

interface OpenListsDeps {
  bus: Bus
  clock: Clock
}

/**
 * The lists of documents and people that clients of this server have open. What a user may see in them is decided by an
 * operation, not here.
 */
export class OpenLists {
  readonly #clock: Clock
  readonly #byApiKey = new Map<string, Map<string, Set<OpenList>>>()
  /** What changed in lists that were told a short time ago, or are told soon. Undefined: nothing since they were told. */
  readonly #changes = new Map<OpenList, Changed | undefined>()
  readonly #due = new Set<OpenList>()
  readonly #reads = new LaneLimiters(maxReadsPerKey)
  #isTelling = false
  readonly #unsubscribe: () => void

  constructor({ bus, clock }: OpenListsDeps) {
    this.#clock = clock
    this.#unsubscribe = bus.subscribe((message) => this.#receive(message))
  }

  add(list: OpenList): void {
    const { apiKey, organizationId } = list
    const organizations = this.#byApiKey.get(apiKey) ?? new Map<string, Set<OpenList>>()
    const lists = organizations.get(organizationId) ?? new Set()
    this.#byApiKey.set(apiKey, organizations.set(organizationId, lists.add(list)))
  }

  delete(list: OpenList): void {
    const { apiKey, organizationId } = list
    const organizations = this.#byApiKey.get(apiKey)
    const lists = organizations?.get(organizationId)
    this.#changes.delete(list)
    this.#due.delete(list)
    lists?.delete(list)
    if (lists?.size === 0) organizations?.delete(organizationId)
    if (organizations?.size === 0) this.#byApiKey.delete(apiKey)
  }

  #receive(message: BusMessage): void {
    const organizations = this.#byApiKey.get(message.apiKey)
    if (!organizations) return
    const markIn = (
      id: string,
      ids: readonly string[] | undefined,
      isAffected: (list: OpenList) => boolean,
    ) => {
      // Made once for all lists: there may be very many.
      const changed = ids && ids.length <= maxChangedIds ? new Set(ids) : undefined
      for (const list of organizations.get(id) ?? []) if (isAffected(list)) this.#mark(list, changed)
    }
    switch (message.kind) {
      case 'access': {
        const { organizationIds, documentIds } = message
        const userIds = message.userIds && new Set(message.userIds)
        const isAffected = ({ list, userId }: OpenList) =>
          (!userIds || userIds.has(userId)) && (!documentIds || list === 'documents')
        for (const id of organizationIds ?? organizations.keys()) markIn(id, documentIds, isAffected)
        break
      }
      case 'people':
        for (const id of message.organizationIds) markIn(id, message.userIds, ({ list }) => list === 'people')
        break
      case 'documents':
      case 'gone':
      case 'changed': {
        const { organizationId, documentIds } = message
        markIn(organizationId, documentIds, ({ list }) => !documentIds || list === 'documents')
      }
    }
  }

  #mark(list: OpenList, ids: ReadonlySet<string> | undefined): void {
    const isKnown = this.#changes.has(list)
    const known = this.#changes.get(list)
    const merged = ids && known !== 'all' ? (known ? new Set([...known, ...ids]) : ids) : undefined
    this.#changes.set(list, merged && merged.size <= maxChangedIds ? merged : 'all')
    if (!isKnown) this.#tellSoon(list)
  }

  #tellSoon(list: OpenList): void {
    this.#due.add(list)
    if (this.#isTelling) return
    this.#isTelling = true
    this.#clock.setTimeout(() => void this.#tellDue(), gatherMs)
  }

  /** Pauses in between, because an organization may have very many clients. */
  async #tellDue(): Promise<void> {
    for (const list of this.#due) {
      if (isLoopLate()) await setImmediate()
      if (this.#due.delete(list)) void this.#tell(list)
    }
    this.#isTelling = false
  }

  async #tell(list: OpenList): Promise<void> {
    const leave = await this.#reads.enter(list.apiKey, list.userId)
    const changed = this.#changes.get(list)
    if (changed) {
      this.#changes.set(list, undefined)
      await list.onChanged(changed === 'all' ? undefined : [...changed])
    }
    leave()
    this.#clock.setTimeout(() => this.#onRested(list), intervalMs)
  }

  #onRested(list: OpenList): void {
    if (this.#changes.get(list)) this.#tellSoon(list)
    else this.#changes.delete(list)
  }

  close(): void {
    this.#unsubscribe()
    this.#byApiKey.clear()
    this.#changes.clear()
    this.#due.clear()
  }
}
