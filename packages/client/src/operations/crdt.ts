// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'

export interface EditorContent {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** Id of the editor inside the document. */
  editorId: string
  /** The content: a string for `text` and `xml`, an object for `map`, an array for `array`. */
  data: CrdtData
  /** Type of the content. */
  type: CrdtType
  /**
   * Name of the shared type inside the Yjs document. Default: `content`. At most 256 characters. Must not
   * contain control characters.
   */
  contentKey?: string
}

export interface CrdtRecord {
  /** The content: a string for `text` and `xml`, an object for `map`, an array for `array`. */
  data: CrdtData
  /** Id of the editor. */
  id: string
  /** When the content was last changed, in ISO 8601. */
  lastUpdate: string
  /** Id of the user who made the last change. */
  lastUpdatedBy: string
  /** Id of the session that made the last change. `null` if a REST call made it. */
  sessionId: string | null
}

/** The content: a string for `text` and `xml`, an object for `map`, an array for `array`. */
export type CrdtData = string | Record<string, unknown> | unknown[]

/** Type of the content. */
export type CrdtType = 'text' | 'map' | 'array' | 'xml'

export type CrdtAddInput = EditorContent

export interface CrdtGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** Id of the editor inside the document. Default: all editors of the document. */
  editorId?: string
}

export type CrdtUpdateInput = EditorContent

/** The stored content of collaborative editors. */
export interface CrdtOperations {
  /**
   * Stores the first content of an editor. The content becomes a Yjs document with a shared type of the given
   * `type` at `contentKey`. The organization and the document are created if they do not exist. The body can
   * have up to 10 MiB.
   *
   * `POST /v2/crdt/add`
   */
  add(input: CrdtAddInput, options?: CallOptions): Promise<Result<null>>
  /**
   * Reads the content of one editor, or of every editor of a document. Editors come in the order of their
   * ids. An editor that does not exist is left out. While nothing has been written at the declared
   * `contentKey`, the content is read where the editor binding writes by default, such as `default` for
   * Tiptap.
   *
   * `POST /v2/crdt/get`
   */
  get(input: CrdtGetInput, options?: CallOptions): Promise<Result<CrdtRecord[]>>
  /**
   * Replaces the content of an editor. The write is one change of the stored Yjs document that keeps
   * unchanged parts, so open editors receive it as a normal edit. Without `contentKey`, it replaces the
   * content that Get CRDT Data returns. In XML, formats of text and the types of attributes stay where the
   * XML does not change them. `type` must be the type of the content. A `contentKey` other than the declared
   * one is accepted only while the declared one is empty. The body can have up to 10 MiB.
   *
   * `POST /v2/crdt/update`
   */
  update(input: CrdtUpdateInput, options?: CallOptions): Promise<Result<null>>
}
