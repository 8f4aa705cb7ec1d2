import type { Database } from '../engine/db.ts'
import { compact, type NewSnapshot } from './snapshots.ts'
import type { EditorRef } from '../refs.ts'

/** Limits the snapshots that are held in memory until they are written. */
const maxInProgress = 2

/** Writes large snapshots in the background. A snapshot may be skipped: the next write builds one again. */
export class SnapshotWriter {
  readonly #database: Database
  readonly #onError: (error: unknown) => void
  readonly #inProgress = new Set<Promise<void>>()

  constructor(database: Database, onError: (error: unknown) => void) {
    this.#database = database
    this.#onError = onError
  }

  /** Skips the snapshot if too many others are in progress. */
  write(apiKey: string, ref: EditorRef, newSnapshot: NewSnapshot): void {
    if (this.#inProgress.size >= maxInProgress) return
    const { organizationId, documentId, editorId } = ref
    const writing = compact(this.#database, apiKey, { organizationId, documentId, editorId }, newSnapshot)
      .then(() => {}, this.#onError)
      .finally(() => this.#inProgress.delete(writing))
    this.#inProgress.add(writing)
  }

  /** Resolves when no snapshot is in progress. */
  async idle(): Promise<void> {
    await Promise.all(this.#inProgress)
  }
}
