/** Changes are counted for each of at most this many users. With more users, their counts move into the version of all users. */
const maxCountedUsers = 10_000

/**
 * Counts the changes of access under one API key. A decision records the access version of its user, and is stale as soon
 * as the user has another version.
 */
export class AccessVersions {
  /** Changes that concern every user. */
  #changes = 0
  readonly #changesByUser = new Map<string, number>()
  /** How often `bumpUsers` was called since `#changesByUser` was cleared. */
  #bumpUsersCalls = 0

  /** The access version of the user: increases with every change that concerns the user under the whole API key. */
  of(userId: string): number {
    return this.#changes + (this.#changesByUser.get(userId) ?? 0)
  }

  /** Increases with every change that concerns all users. */
  get ofAllUsers(): number {
    return this.#changes
  }

  bumpAll(): void {
    this.#changes++
  }

  /** Users without an open session are counted too: their updates may wait to be stored. */
  bumpUsers(userIds: ReadonlySet<string>): void {
    this.#bumpUsersCalls++
    for (const userId of userIds) this.#changesByUser.set(userId, (this.#changesByUser.get(userId) ?? 0) + 1)
    if (this.#changesByUser.size <= maxCountedUsers) return
    // No user's version may return to an earlier number. No user has more changes than there were calls, so this adds enough.
    this.#changes += this.#bumpUsersCalls
    this.#bumpUsersCalls = 0
    this.#changesByUser.clear()
  }
}
