/** Whose work it is. */
export interface WorkOwner {
  readonly apiKey: string
  readonly userId: string
}

interface Share {
  spentMs: number
}

interface UserShare<T> extends Share {
  waiting: Set<T>
}

interface TenantShare<T> extends Share {
  users: Map<string, UserShare<T>>
}

/**
 * Divides time between those who wait for it: between tenants, then between the users of a tenant, then between the items
 * of a user, one after the other. The share that has spent the least time is next, so a client with little work does not
 * wait behind the backlog of others.
 */
export class FairQueue<T> {
  readonly #tenants = new Map<string, TenantShare<T>>()
  readonly #owners = new Map<T, WorkOwner>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get size(): number {
    return this.#owners.size
  }

  has(item: T): boolean {
    return this.#owners.has(item)
  }

  /** Does nothing if the item waits already. */
  add(item: T, owner: WorkOwner): void {
    if (this.#owners.has(item)) return
    const tenant = shareOf(this.#tenants, owner.apiKey, (spentMs) => ({ spentMs, users: new Map() }))
    const user = shareOf(tenant.users, owner.userId, (spentMs) => ({ spentMs, waiting: new Set() }))
    user.waiting.add(item)
    this.#owners.set(item, owner)
  }

  delete(item: T): void {
    const owner = this.#owners.get(item)
    if (!owner) return
    this.#owners.delete(item)
    this.#tenants.get(owner.apiKey)?.users.get(owner.userId)?.waiting.delete(item)
    this.#prune(owner)
  }

  /** Takes the next item out and works on it. The work may add the item again. */
  takeNext(work: (item: T) => void): void {
    const [apiKey, tenant] = leastSpent(this.#tenants)
    const [userId, user] = leastSpent(tenant.users)
    const [item] = user.waiting as Iterable<T> as [T]
    user.waiting.delete(item)
    this.#owners.delete(item)
    const startedAt = this.#now()
    try {
      work(item)
    } finally {
      const tookMs = this.#now() - startedAt
      tenant.spentMs += tookMs
      user.spentMs += tookMs
      this.#prune({ apiKey, userId })
    }
  }

  /** Forgets shares that nobody waits in. */
  #prune({ apiKey, userId }: WorkOwner): void {
    const tenant = this.#tenants.get(apiKey)
    if (tenant?.users.get(userId)?.waiting.size === 0) tenant.users.delete(userId)
    if (tenant?.users.size === 0) this.#tenants.delete(apiKey)
  }
}

/** A new share begins with the least time that another one has spent. */
function shareOf<S extends Share>(shares: Map<string, S>, id: string, create: (spentMs: number) => S): S {
  let share = shares.get(id)
  if (share === undefined) {
    share = create(shares.size > 0 ? leastSpent(shares)[1].spentMs : 0)
    shares.set(id, share)
  }
  return share
}

function leastSpent<S extends Share>(shares: ReadonlyMap<string, S>): [string, S] {
  let least: [string, S] | undefined
  for (const entry of shares) if (least === undefined || entry[1].spentMs < least[1].spentMs) least = entry
  return least as [string, S]
}
