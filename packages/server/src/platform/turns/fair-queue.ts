/** Whose work it is. */
export interface WorkOwner {
  readonly apiKey: string
  readonly userId: string
}

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
  /** What the user who was next had spent: new users begin with it. */
  newUserMs: number
}

/**
 * Divides time between those who wait for it: between tenants, then between the users of a tenant, then between the items
 * of a user, one after the other. The share that has spent the least time is next, so a client with little work does not
 * wait behind the backlog of others.
 */
export class FairQueue<T> {
  /** Those in which somebody waits. */
  readonly #tenants = new Map<string, TenantShare<T>>()
  /** By item, in whose share it waits. */
  readonly #shares = new Map<T, UserShare<T>>()
  /** What the tenant who was next had spent: new tenants begin with it. */
  #newTenantMs = 0
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get size(): number {
    return this.#shares.size
  }

  has(item: T): boolean {
    return this.#shares.has(item)
  }

  /** Does nothing if the item waits already. */
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
    this.#take(item, user)
    this.#prune(user)
  }

  /** Takes the next item out and works on it. The work may add the item again. */
  takeNext(work: (item: T) => void): void {
    const tenant = leastSpent(this.#tenants) as TenantShare<T>
    const user = leastSpent(tenant.users) as UserShare<T>
    this.#newTenantMs = tenant.spentMs
    tenant.newUserMs = user.spentMs
    const item = user.waiting.values().next().value as T
    this.#take(item, user)
    const startedAt = this.#now()
    try {
      work(item)
    } finally {
      const tookMs = this.#now() - startedAt
      tenant.spentMs += tookMs
      user.spentMs += tookMs
      this.#prune(user)
    }
  }

  #take(item: T, user: UserShare<T>): void {
    user.waiting.delete(item)
    this.#shares.delete(item)
  }

  /** Forgets shares in which nobody waits. */
  #prune(user: UserShare<T>): void {
    const { userId, tenant, waiting } = user
    // The work on an item may have ended the share and begun a new one.
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
