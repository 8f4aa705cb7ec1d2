import { setImmediate } from 'node:timers/promises'
import type { Bus, BusMessage } from '../../bus.ts'
import { isLoopLate } from '../../platform/turns/loop-time.ts'
import type { WorkHost } from '../../platform/turns/work-queue.ts'
import { documentKey, type DocumentRef } from '../../store/refs.ts'
import type { Identity } from '../authorization/identity.ts'
import { ApiKeyDocuments } from './api-key-documents.ts'
import { MissedChanges } from './missed-changes.ts'
import { OpenDocument, type OpenDocumentDeps } from './open-document.ts'
import { type ParticipantListener, Participant } from './participant.ts'

const movedMessage = 'The document was moved to another id.'
const deletedMessage = 'The document was deleted.'

/** The open documents of this server. Passes bus messages on to them, and drops documents that no client needs. */
export class DocumentDirectory {
  readonly #deps: OpenDocumentDeps
  readonly #byApiKey = new Map<string, ApiKeyDocuments>()
  readonly #unsubscribe: () => void
  readonly #missed: MissedChanges
  #sweeping: Promise<void> | undefined

  constructor(deps: OpenDocumentDeps & { bus: Bus }) {
    this.#deps = deps
    this.#unsubscribe = deps.bus.subscribe((message) => this.#receive(message))
    this.#missed = new MissedChanges({ ...deps, documents: () => this.#all() })
  }

  start(): void {
    this.#missed.start()
  }

  *#all(): Generator<OpenDocument> {
    for (const { documents } of this.#byApiKey.values()) yield* documents.values()
  }

  /** Adds a client to a document. The caller calls `start` on the participant once its session can handle callbacks. */
  join(host: WorkHost, identity: Identity, ref: DocumentRef, listener: ParticipantListener): Participant {
    const document = this.#open(identity.apiKey, ref)
    const participant = new Participant(host, identity, document, listener)
    document.members.add(participant)
    return participant
  }

  #open(apiKey: string, ref: DocumentRef): OpenDocument {
    const apiKeyDocuments = this.#byApiKey.get(apiKey) ?? new ApiKeyDocuments()
    this.#byApiKey.set(apiKey, apiKeyDocuments)
    const known = apiKeyDocuments.documents.get(documentKey(ref))
    if (known) return known
    const document = new OpenDocument({
      deps: this.#deps,
      apiKey,
      ref,
      accessVersions: apiKeyDocuments.accessVersions,
      onClosed: (closed) => apiKeyDocuments.drop(closed),
    })
    apiKeyDocuments.documents.set(documentKey(ref), document)
    return document
  }

  /** Every decision about access is made again, also about clients that have left. */
  onSignalsMissed(): void {
    for (const apiKeyDocuments of this.#byApiKey.values()) apiKeyDocuments.onAccessChanged({})
  }

  /** The open document that a message concerns. */
  #find(message: DocumentRef & { apiKey: string }): OpenDocument | undefined {
    const document = this.#byApiKey.get(message.apiKey)?.documents.get(documentKey(message))
    document?.onActivity()
    return document
  }

  #receive(message: BusMessage): void {
    const apiKeyDocuments = this.#byApiKey.get(message.apiKey)
    if (!apiKeyDocuments) return
    switch (message.kind) {
      case 'access':
        apiKeyDocuments.onAccessChanged(message)
        break
      case 'credentials':
        for (const document of apiKeyDocuments.documents.values()) {
          document.closeBackends('unauthenticated', 'token_invalid: The auth token was reset.')
        }
        break
      case 'editor':
        this.#find(message)?.onLogAppended(message.editorId, message.row)
        break
      case 'versionAdded': {
        const { version } = message
        this.#find(message)?.onVersionsChanged(message.editorId, { type: 'versionAdded', version })
        break
      }
      case 'versionRestored': {
        const { version, restoredBy } = message
        this.#find(message)?.onVersionsChanged(message.editorId, {
          type: 'versionRestored',
          version,
          ...(restoredBy && { restoredBy }),
        })
        break
      }
      case 'threads':
      case 'liveState':
        this.#find(message)?.feed.onStored(message.seq)
        break
      case 'viewed':
        this.#find(message)?.feed.onViewed(message.userId, message.numbers)
        break
      case 'presence':
        void this.#find(message)?.presence.backendChanged(message.userIds, message.removed === true)
        break
      case 'changed':
        for (const document of documentsOf(apiKeyDocuments, message)) document.reload()
        break
      case 'gone':
        for (const document of documentsOf(apiKeyDocuments, message)) {
          // The new id is not named, because access to the document may be different there.
          document.close('gone', message.isMoved ? movedMessage : deletedMessage)
        }
        break
    }
  }

  /** Called twice a second: sweeps all open documents, and drops documents that no client needs. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweepAll().finally(() => (this.#sweeping = undefined))
    return this.#sweeping
  }

  async #sweepAll(): Promise<void> {
    const elapsed = this.#deps.clock.elapsed()
    for (const [apiKey, apiKeyDocuments] of this.#byApiKey) {
      for (const document of apiKeyDocuments.documents.values()) {
        // Clients may have hundreds of thousands of documents open. To await `yieldIfLate` for each would cost more than this.
        if (isLoopLate()) await setImmediate()
        if (document.isQuiet(elapsed)) continue
        document.sweep()
        if (document.isUnused) apiKeyDocuments.drop(document)
      }
      if (apiKeyDocuments.documents.size === 0) this.#byApiKey.delete(apiKey)
    }
  }

  /** How many documents and editors are open. */
  get numbers(): { documents: number; editors: number; healed: number } {
    let documents = 0
    let editors = 0
    for (const apiKeyDocuments of this.#byApiKey.values()) {
      documents += apiKeyDocuments.documents.size
      for (const document of apiKeyDocuments.documents.values()) editors += document.rooms.size
    }
    return { documents, editors, healed: this.#missed.healed }
  }

  close(): void {
    this.#missed.stop()
    this.#unsubscribe()
  }
}

/** The open documents that a message concerns: those that it names, or all documents of the organization. */
const documentsOf = (
  apiKeyDocuments: ApiKeyDocuments,
  message: { organizationId: string; documentIds?: readonly string[] },
) => apiKeyDocuments.within({ ...message, organizationIds: [message.organizationId] })
