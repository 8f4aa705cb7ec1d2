/** Whose time a piece of work takes. The queue knows a tenant and its users by these ids only. */
export interface WorkOwner {
  readonly apiKey: string
  readonly userId: string
}

/** The time that a tenant or a user has used since it began to wait, plus the value that it started with. */
interface Share {
  spentMs: number
}

interface UserShare<T> extends Share {
  userId: string
  tenant: TenantShare<T>
  waiting: Set<T>
}

interface TenantShare<T> extends Share {
  apiKey: string
  users: Map<string, UserShare<T>>
  /** What the last served user had spent before its turn. Users who begin to wait start with it. */
  newUserMs: number
}

/**
 * A queue that divides time between tenants, then between the users of a tenant. The items of a user keep their order. Next is
 * always the tenant, and within it the user, who has spent the least time. So a client with little work does not wait behind
 * the backlog of others.
 */
export class FairQueue<T> {
  /** Tenants with waiting items. */
  readonly #tenants = new Map<string, TenantShare<T>>()
  /** The share in which each item waits. */
  readonly #shares = new Map<T, UserShare<T>>()
  /** What the last served tenant had spent before its turn. Tenants that begin to wait start with it. */
  #newTenantMs = 0
  readonly #elapsed: () => number

  constructor(elapsed: () => number = () => performance.now()) {
    this.#elapsed = elapsed
  }

  get size(): number {
    return this.#shares.size
  }

  has(item: T): boolean {
    return this.#shares.has(item)
  }

  /** Has no effect if the item waits already. */
  add(item: T, { apiKey, userId }: WorkOwner): void {
    if (this.#shares.has(item)) return
    let tenant = this.#tenants.get(apiKey)
    if (tenant === undefined) {
      tenant = { apiKey, spentMs: this.#newTenantMs, users: new Map(), newUserMs: 0 }
      this.#tenants.set(apiKey, tenant)
    }
    let user = tenant.users.get(userId)
    if (user === undefined) {
      user = { userId, tenant, spentMs: tenant.newUserMs, waiting: new Set() }
      tenant.users.set(userId, user)
    }
    user.waiting.add(item)
    this.#shares.set(item, user)
  }

  delete(item: T): void {
    const user = this.#shares.get(item)
    if (!user) return
    this.#remove(item, user)
    this.#dropIfEmpty(user)
  }

  /** Removes the next item and runs `work` with it. Charges the time to the item's owner. `work` may add the item again. */
  takeNext(work: (item: T) => void): void {
    const tenant = leastSpent(this.#tenants) as TenantShare<T>
    const user = leastSpent(tenant.users) as UserShare<T>
    this.#newTenantMs = tenant.spentMs
    tenant.newUserMs = user.spentMs
    const item = user.waiting.values().next().value as T
    this.#remove(item, user)
    const startedAt = this.#elapsed()
    try {
      work(item)
    } finally {
      const tookMs = this.#elapsed() - startedAt
      tenant.spentMs += tookMs
      user.spentMs += tookMs
      this.#dropIfEmpty(user)
    }
  }

  #remove(item: T, user: UserShare<T>): void {
    user.waiting.delete(item)
    this.#shares.delete(item)
  }

  #dropIfEmpty(user: UserShare<T>): void {
    const { userId, tenant, waiting } = user
    // `work` may have removed the user's last item and added another, which has a new share.
    if (waiting.size > 0 || tenant.users.get(userId) !== user) return
    tenant.users.delete(userId)
    if (tenant.users.size === 0) this.#tenants.delete(tenant.apiKey)
  }
}

function leastSpent<S extends Share>(shares: ReadonlyMap<string, S>): S | undefined {
  let least: S | undefined
  for (const share of shares.values()) if (least === undefined || share.spentMs < least.spentMs) least = share
  return least
}
