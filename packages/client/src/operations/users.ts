// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'
import type { Outcome } from './organizations.ts'

export interface MemberInput {
  /** Id of the user. */
  userId: string
  /** Name of the user, for people. At most 1,000 characters. */
  name?: string | null
  /** Email address of the user. At most 320 characters. */
  email?: string | null
  /** Address of a picture of the user. At most 2,000 characters. */
  photoUrl?: string | null
  /** Letters in place of a picture. Default: the first letter of the name. At most 10 characters. */
  initial?: string | null
  /** CSS color of the user. Default: derived from the user id. At most 50 characters. */
  color?: string | null
  /** CSS color of text on `color`. At most 50 characters. */
  textColor?: string | null
  /** Whether the user only reads. Stored with the profile; it is not a permission. */
  isReadOnly?: boolean | null
  /** Whether the user is not known by name. Stored with the profile. */
  isAnonymous?: boolean | null
  /** Whether the user is a guest. Stored with the profile. */
  isGuest?: boolean | null
  /** Plan of the user. Stored with the profile. At most 1,000 characters. */
  plan?: string | null
  /** Id of the group. At most 1,000 characters. */
  groupId?: string | null
  /** A group id of your own. Stored with the profile. At most 1,000 characters. */
  clientGroupId?: string | null
  /** What the user may do there: `viewer` reads, `editor` reads and writes. Ignored under v1. */
  accessRole?: 'viewer' | 'editor'
  /** Other keys are kept as they are sent. */
  [key: string]: unknown
}

export interface User {
  /** Id of the user. */
  userId: string
  /** Name of the user, for people. */
  name: string
  /** Email address of the user. */
  email?: string
  /** Address of a picture of the user. */
  photoUrl?: string
  /** Letters in place of a picture. Default: the first letter of the name. */
  initial: string
  /** CSS color of the user. Default: derived from the user id. */
  color: string
  /** CSS color of text on `color`. */
  textColor?: string
  /** What the user may do there: `viewer` reads, `editor` reads and writes. */
  accessRole?: 'viewer' | 'editor'
  /** Other keys are kept as they are sent. */
  [key: string]: unknown
}

export interface UsersAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId?: string
  /** Id of the folder. */
  folderId?: string
  /** Whether to create an organization that does not exist. Ignored under v1. */
  createOrganization?: boolean
  /** Whether to create a document that does not exist. Ignored under v1. */
  createDocument?: boolean
  /** Whether to create a folder that does not exist. Ignored under v1. */
  createFolder?: boolean
  /** The users. 1 to 500 items. */
  users: MemberInput[]
}

export interface UsersGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId?: string
  /** Id of the folder. Ignored under v1. */
  folderId?: string
  /** Ids of the users. At most 30 items. */
  userIds?: string[]
  /** Only users in one of these groups. At most 30 items. */
  organizationUserGroupIds?: string[]
  /** Reads the users of every document, each once and without `accessRole`. Ignored under v1. */
  allDocuments?: boolean
  /** Lists the users by document. Ignored under v1. */
  groupByDocumentId?: boolean
  /** How many are read at most. 1 to 1,000. Ignored under v1. */
  pageSize?: number
  /**
   * `nextPageToken` of the answer before, to read the next page. At most 4,096 characters. Ignored under v1.
   */
  pageToken?: string
}

export interface UsersUpdateInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId?: string
  /** Id of the folder. */
  folderId?: string
  /** The users. 1 to 500 items. */
  users: MemberInput[]
}

export interface UsersDeleteInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. */
  documentId?: string
  /** Id of the folder. */
  folderId?: string
  /** Ids of the users. 1 to 500 items. */
  userIds: string[]
}

/** The people of an organization, a folder or a document, with their roles. */
export interface UsersOperations {
  /**
   * Adds users to an organization, or to one of its documents or folders. With `documentId` or `folderId`
   * users are added there only. A user who is there already is merged. The organization is created unless
   * `createOrganization` is false.
   *
   * `POST /v2/users/add`
   */
  add(input: UsersAddInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Reads the users of an organization, or of its documents or folders. Filters narrow each other.
   * `allDocuments` reads the users of every document, each once and without `accessRole`; with
   * `groupByDocumentId` they are listed by document. v1 returns up to 10,000 users at once. Needs the option
   * `useAdvancedQueries` of the API key, which is on unless switched off.
   *
   * `POST /v2/users/get`
   */
  get(input: UsersGetInput, options?: CallOptions): Promise<Result<User[] | Record<string, User[]>>>
  /**
   * Changes the profiles of users. Sent fields are merged into the profile and show wherever the user is;
   * `null` removes a field. `accessRole` changes the addressed level only.
   *
   * `POST /v2/users/update`
   */
  update(input: UsersUpdateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Removes users from an organization, or from one of its documents or folders. Leaving the organization
   * also ends group memberships and access to everything inside it, and the profile goes when the user is
   * left nowhere. What tokens that were issued before permit there ends too. Removing a user does not close a
   * `public` document to that user, and documents are `public` unless set otherwise: there, a user without a
   * grant may write, also one who was a viewer. Set `accessType` to `restricted` with
   * `documents.updateAccess` to keep users without a grant out.
   *
   * `POST /v2/users/delete`
   */
  delete(input: UsersDeleteInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
}
