import { setImmediate } from 'node:timers/promises'
import type { AccessScope } from '../../bus.ts'
import { documentKey } from '../../store/refs.ts'
import { AccessEpochs } from '../authorization/access-epochs.ts'
import type { OpenDocument } from './open-document.ts'

/** Documents that are authorized together when access changes. */
const documentsPerStep = 16

/** The open documents of one API key. */
export class KeyDocuments {
  /** By `documentKey`. */
  readonly documents = new Map<string, OpenDocument>()
  readonly epochs = new AccessEpochs()

  /** The access of users under the API key may have changed. */
  onAccessChanged(scope: AccessScope): void {
    const { userIds, organizationIds } = scope
    const named = userIds && new Set(userIds)
    if (named) this.epochs.bumpUsers(named)
    else if (!organizationIds) this.epochs.bumpAll()
    const all = [...this.documents.values()]
    const documents = organizationIds ? this.within(scope) : all.filter((one) => !named || one.hasAny(named))
    // Every member is authorized again: an update waits until it is known which members may receive it.
    for (const document of documents) document.invalidateAccess()
    void this.#authorize(documents)
  }

  /** The open documents of these organizations: all of them, or those with these ids. */
  within({ organizationIds, documentIds }: AccessScope): OpenDocument[] {
    if (documentIds) {
      const keys = organizationIds?.flatMap((organizationId) =>
        documentIds.map((documentId) => documentKey({ organizationId, documentId })),
      )
      return [...new Set(keys)].flatMap((key) => this.documents.get(key) ?? [])
    }
    const ids = new Set(organizationIds)
    return [...this.documents.values()].filter(({ organizationId }) => ids.has(organizationId))
  }

  /** Unless another object has taken its place. */
  drop(document: OpenDocument): void {
    const key = documentKey(document)
    if (this.documents.get(key) === document) this.documents.delete(key)
  }

  /** A few at a time: an API key may have thousands of documents open, and other work must have its turn. */
  async #authorize(documents: readonly OpenDocument[]): Promise<void> {
    const epoch = this.epochs.ofAllUsers
    // A change that concerns all users authorizes all documents again.
    for (
      let from = 0;
      from < documents.length && epoch === this.epochs.ofAllUsers;
      from += documentsPerStep
    ) {
      await Promise.all(documents.slice(from, from + documentsPerStep).map((one) => one.authorize()))
      await setImmediate()
    }
  }
}
