import { setImmediate } from 'node:timers/promises'
import type { AccessScope } from '../../platform/bus.ts'
import type { OpenDocument } from './open-document.ts'

/** Documents that are judged together when access changes. */
const judgedTogether = 16

/** Users whose changes are counted one by one; with more of them, all users under the key are judged again. */
const mostCounted = 10_000

/** Ids may hold any visible character, but no NUL. */
export const idOf = (organizationId: string, documentId: string) => `${organizationId}\0${documentId}`

/** The open documents of one API key, and how often access changed there. */
export class OpenKey {
  /** By `idOf`. */
  readonly documents = new Map<string, OpenDocument>()
  /** Changes of access of everybody. */
  #changes = 0
  readonly #changesByUser = new Map<string, number>()
  /** Messages that named users. */
  #countedTimes = 0

  /** Counts up with every change of access that concerns the user under the whole key. */
  epochOf(userId: string): number {
    return this.#changes + (this.#changesByUser.get(userId) ?? 0)
  }

  /** Somebody may do more or less than before. */
  accessChanged(scope: AccessScope): void {
    const { userIds, organizationIds } = scope
    const named = userIds && new Set(userIds)
    if (named) this.#countUsers(named)
    else if (!organizationIds) this.#changes++
    const all = [...this.documents.values()]
    const documents = organizationIds ? this.within(scope) : all.filter((one) => !named || one.has(named))
    // Everybody who is there is judged again: what the others send waits until it is known who may receive it.
    for (const document of documents) document.accessChanged()
    void this.#judge(documents)
  }

  /** The open documents of those organizations: all, or those with these ids. */
  within({ organizationIds, documentIds }: AccessScope): OpenDocument[] {
    if (documentIds) {
      const ids = organizationIds?.flatMap((inside) => documentIds.map((id) => idOf(inside, id)))
      return [...new Set(ids)].flatMap((id) => this.documents.get(id) ?? [])
    }
    const inside = new Set(organizationIds)
    return [...this.documents.values()].filter((document) => inside.has(document.organizationId))
  }

  /** Also for those who have left, and whose updates wait to be stored. */
  #countUsers(userIds: ReadonlySet<string>): void {
    this.#countedTimes++
    for (const userId of userIds) this.#changesByUser.set(userId, (this.#changesByUser.get(userId) ?? 0) + 1)
    if (this.#changesByUser.size <= mostCounted) return
    // Nobody's epoch may become what it was before.
    this.#changes += this.#countedTimes
    this.#countedTimes = 0
    this.#changesByUser.clear()
  }

  /** A few at a time: a key may have thousands of documents open, and others want their turn. */
  async #judge(documents: readonly OpenDocument[]): Promise<void> {
    const changes = this.#changes
    // Whatever changes for everybody judges all of them again.
    for (let from = 0; from < documents.length && changes === this.#changes; from += judgedTogether) {
      await Promise.all(documents.slice(from, from + judgedTogether).map((document) => document.judge()))
      await setImmediate()
    }
  }
}
