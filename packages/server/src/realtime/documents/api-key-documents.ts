import { setImmediate } from 'node:timers/promises'
import type { AccessScope } from '../../bus.ts'
import { documentKey } from '../../store/refs.ts'
import { AccessVersions } from '../authorization/access-versions.ts'
import type { OpenDocument } from './open-document.ts'

/** How many documents are authorized at the same time when access changes. */
const documentsPerStep = 16

/** The open documents of one API key. */
export class ApiKeyDocuments {
  /** By `documentKey`. */
  readonly documents = new Map<string, OpenDocument>()
  readonly accessVersions = new AccessVersions()

  /** The access of users under the API key may have changed. */
  onAccessChanged(scope: AccessScope): void {
    const { userIds, organizationIds } = scope
    const named = userIds && new Set(userIds)
    if (named) this.accessVersions.bumpUsers(named)
    else if (!organizationIds) this.accessVersions.bumpAll()
    const documents = organizationIds
      ? this.within(scope)
      : [...this.documents.values()].filter((one) => !named || one.hasAny(named))
    // The decisions about all members become stale, not only those about the named users: the update of any sender waits
    // until it is known which members may receive it.
    for (const document of documents) document.invalidateAccess()
    void this.#authorize(documents)
  }

  /** Returns the open documents of these organizations: all documents, or those with these ids. */
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

  /** Drops the document, unless another object has replaced it. */
  drop(document: OpenDocument): void {
    document.endSharing()
    const key = documentKey(document)
    if (this.documents.get(key) === document) this.documents.delete(key)
  }

  /** Authorizes a few documents at a time: an API key may have thousands open, and other work must have its turn. */
  async #authorize(documents: readonly OpenDocument[]): Promise<void> {
    const version = this.accessVersions.ofAllUsers
    // Stops at a change that concerns all users, because that change authorizes all documents again.
    for (
      let from = 0;
      from < documents.length && version === this.accessVersions.ofAllUsers;
      from += documentsPerStep
    ) {
      await Promise.all(documents.slice(from, from + documentsPerStep).map((one) => one.authorize()))
      await setImmediate()
    }
  }
}
