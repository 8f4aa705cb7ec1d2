import { chosenIdRule, isChosenId } from '@plenum/protocol'
import { closeCodes, type CloseReason } from '@plenum/protocol/realtime'
import type { Identity } from '../../authorization/identity.ts'
import type { MessageOf, Subject } from '../../messages/message.ts'
import { type DocumentListener, JsonDocument } from './document.ts'
import { JsonEditors } from './editors.ts'
import type { JsonHost } from './host.ts'

/** Limit of each connection. */
const maxDocuments = 1_000

/** The documents of a client at `/realtime`, and their editors. */
export class JsonDocuments implements DocumentListener {
  readonly editors: JsonEditors
  readonly #host: JsonHost
  readonly #documents = new Map<number, JsonDocument>()
  /** Documents that the client has closed, while messages that it sent before are still being handled. */
  readonly #leaving = new Set<JsonDocument>()

  constructor(host: JsonHost) {
    this.#host = host
    this.editors = new JsonEditors(host)
  }

  /** Returns the document under the ref of a message. Refuses the message if there is none. */
  find({ ref, id, channel }: Subject & { ref: number }): JsonDocument | undefined {
    const document = this.#documents.get(ref)
    if (!document) this.#host.refuse({ ref, id, channel }, 'NOT_FOUND', 'No document is open under this ref.')
    return document
  }

  open(message: MessageOf<'open'>): void {
    const { ref, organizationId, documentId } = message
    if (this.#documents.has(ref)) {
      return this.#host.refuse({ ref }, 'ALREADY_EXISTS', 'A document is open under this ref.')
    }
    for (const { wireRef: other, documentRef } of this.#documents.values()) {
      if (documentRef.organizationId !== organizationId || documentRef.documentId !== documentId) continue
      // Every event of the document would be sent once for each ref.
      const text = `The document is already open on this connection, under ref ${other}.`
      return this.#host.refuse({ ref }, 'ALREADY_EXISTS', text)
    }
    if (!isChosenId(organizationId)) {
      return this.#sendClosed(ref, 'badMessage', `organizationId ${chosenIdRule}`)
    }
    if (!isChosenId(documentId)) return this.#sendClosed(ref, 'badMessage', `documentId ${chosenIdRule}`)
    if (Math.max(this.#documents.size, this.#leaving.size) >= maxDocuments) {
      return this.#sendClosed(ref, 'tooMany', `A connection has at most ${maxDocuments} documents open.`)
    }
    this.#documents.set(ref, new JsonDocument(this.#host, this, message))
  }

  /** Closes a document for the client. Its ref can be reused immediately. Messages sent before are still handled. */
  close(ref: number): void {
    const document = this.#documents.get(ref)
    if (!document) return
    this.#documents.delete(ref)
    this.#leaving.add(document)
    document.prepareToLeave(() => void this.editors.closeAllOf(document).then(() => this.#leave(document)))
  }

  closeAll(): void {
    for (const ref of this.#documents.keys()) this.close(ref)
  }

  renew(identity: Identity): void {
    for (const { participant } of this.#documents.values()) participant.renew(identity)
  }

  /** The user is active in all documents. */
  touch(): void {
    for (const { participant } of this.#documents.values()) participant.document.presence.touch(participant)
  }

  #leave(document: JsonDocument): void {
    this.#leaving.delete(document)
    this.editors.leaveAllOf(document)
    document.leave()
  }

  onRoleChanged(document: JsonDocument): void {
    this.editors.onRoleChanged(document)
  }

  onDocumentClosed(document: JsonDocument, reason: CloseReason, message: string): void {
    const { wireRef: ref } = document
    const hasRef = this.#documents.get(ref) === document
    if (hasRef) this.#documents.delete(ref)
    this.#leave(document)
    if (hasRef) this.#sendClosed(ref, reason, message)
  }

  #sendClosed(ref: number, reason: CloseReason, text: string): void {
    this.#host.send({ type: 'closed', ref, code: closeCodes[reason], reason: text })
  }
}
