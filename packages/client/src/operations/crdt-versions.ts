// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { CrdtType, CrdtData } from './crdt.ts'

export interface EditorVersion {
  /** Id of the version. */
  versionId: string
  /** Display name of the version. */
  name: string
  /** Type of the content. */
  type: CrdtType
  /** Time of creation, as Unix time in milliseconds. */
  createdAt: number
  /** The user who saved the version. Absent if a backend saved it without `userId`. */
  createdBy?: VersionUser
  /**
   * The content: a string for `text` and `xml`, an object for `map`, an array for `array`. Present when the
   * version is read by `versionId`.
   */
  data?: CrdtData
}

export interface VersionUser {
  /** Id of the user. */
  userId: string
  /** Display name of the user at the time of saving. Absent if it was unknown. */
  name?: string
}

export interface CrdtVersionsAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** Id of the editor inside the document. */
  editorId: string
  /** Display name of the version. At most 200 characters. Must not be blank. */
  name: string
  /** Id of the user who saves the version. */
  userId?: string
}

export interface CrdtVersionsGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** Id of the editor inside the document. */
  editorId: string
  /** Id of the version to read with its content. Default: list all versions. */
  versionId?: string
  /** Maximum number of items on the page. From 1 to 1,000. */
  pageSize?: number
  /** The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. */
  pageToken?: string
}

export interface CrdtVersionsRestoreInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId: string
  /** Id of the editor inside the document. */
  editorId: string
  /** Id of the version. */
  versionId: string
}

/** Saved versions of the content of an editor, to read and to restore. */
export interface CrdtVersionsOperations {
  /**
   * Saves the current content of an editor as a named version. Several versions can have the same name. An
   * editor has at most 1,000 versions. Without `userId`, the version has no `createdBy`.
   *
   * `POST /v2/crdt/versions/add`
   */
  add(input: CrdtVersionsAddInput, options?: CallOptions): Promise<Result<EditorVersion>>
  /**
   * Reads the versions of an editor, or the content of one version. The newest versions come first, without
   * content. With `versionId`, the answer is only that version, with `data`. A version that does not exist is
   * left out.
   *
   * `POST /v2/crdt/versions/get`
   */
  get(input: CrdtVersionsGetInput, options?: CallOptions): Promise<Result<EditorVersion[]>>
  /**
   * Restores an editor to a version. The restore is one change of the stored Yjs document that keeps
   * unchanged parts, so open editors receive it as a normal edit. To be able to return to the current
   * content, save a version first.
   *
   * `POST /v2/crdt/versions/restore`
   */
  restore(input: CrdtVersionsRestoreInput, options?: CallOptions): Promise<Result<null>>
}
