// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { Outcome } from './organizations.ts'
import type { AccessRole } from './auth.ts'

export interface MemberInput {
  /** Id of the user. */
  userId: string
  /** Display name of the user. At most 1,000 characters. */
  name?: string | null
  /** Email address of the user. At most 320 characters. */
  email?: string | null
  /** URL of a picture of the user. At most 2,000 characters. */
  photoUrl?: string | null
  /** Letters to show instead of a picture. Default: the first letter of the name. At most 10 characters. */
  initial?: string | null
  /** CSS color of the user. Default: derived from the user id. At most 50 characters. */
  color?: string | null
  /** CSS color of text on `color`. At most 50 characters. */
  textColor?: string | null
  /** Whether the user only reads. Stored with the profile: it is not a permission. */
  isReadOnly?: boolean | null
  /** Whether the user is anonymous. Stored with the profile. */
  isAnonymous?: boolean | null
  /** Whether the user is a guest. Stored with the profile. */
  isGuest?: boolean | null
  /** Plan of the user in your application. Stored with the profile. At most 1,000 characters. */
  plan?: string | null
  /** Group id in your application. Stored with the profile. Deprecated. At most 1,000 characters. */
  groupId?: string | null
  /** Group id in your application. Stored with the profile. Deprecated. At most 1,000 characters. */
  clientGroupId?: string | null
  /**
   * What the user may do in the document, folder or organization of the call: a `viewer` reads, an `editor`
   * reads and writes. Default for a new user: a role that another grant or the token of the user names,
   * otherwise `editor`. Ignored under v1.
   */
  accessRole?: AccessRole
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface User {
  /** Id of the user. */
  userId: string
  /** Display name of the user. The server derives one if none was set. */
  name: string
  /** Email address of the user. */
  email?: string
  /** URL of a picture of the user. */
  photoUrl?: string
  /** Letters to show instead of a picture. */
  initial: string
  /** CSS color of the user. */
  color: string
  /** CSS color of text on `color`. */
  textColor?: string
  /**
   * Role of the grant in the document, folder or organization of the call: a `viewer` reads, an `editor`
   * reads and writes. `editor` if nobody sent a role; Get Permissions has the role that applies.
   */
  accessRole?: AccessRole
  /** Further keys are stored as sent. */
  [key: string]: unknown
}

export interface Person {
  /** Id of the user. */
  userId: string
  /** Display name of the user. The server derives one if none was set. */
  name: string
  /** URL of a picture of the user. */
  photoUrl?: string
  /** Letters to show instead of a picture. */
  initial: string
  /** CSS color of the user. */
  color: string
}

export interface UsersAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. Default: the users belong to the organization. */
  documentId?: string
  /** Id of the folder. Send either this or `documentId`. */
  folderId?: string
  /** Whether to create the organization if it does not exist. Default: true. Ignored under v1. */
  createOrganization?: boolean
  /** Whether to create the document if it does not exist. Default: false. Ignored under v1. */
  createDocument?: boolean
  /** Whether to create the folder if it does not exist. Default: false. Ignored under v1. */
  createFolder?: boolean
  /** The users to add. From 1 to 500 items. */
  users: MemberInput[]
}

export interface UsersGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Only users of this document. */
  documentId?: string
  /** Only users of this folder. Ignored under v1. */
  folderId?: string
  /** Only users with these ids. At most 30 items. */
  userIds?: string[]
  /** Only users in one of these user groups. At most 30 items. */
  organizationUserGroupIds?: string[]
  /** True: reads the users of every document, each once, without `accessRole`. Ignored under v1. */
  allDocuments?: boolean
  /** True: lists the users by document. Requires `allDocuments`. Ignored under v1. */
  groupByDocumentId?: boolean
  /** Maximum number of items on the page. From 1 to 1,000. Ignored under v1. */
  pageSize?: number
  /**
   * The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. Ignored under v1.
   */
  pageToken?: string
}

export interface UsersListInput {
  /** Id of the organization. */
  organizationId: string
  /** Only users with these ids. Default: all. At most 30 items. */
  userIds?: string[]
  /** Maximum number of items on the page. Default: 50. From 1 to 200. */
  pageSize?: number
  /** The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. */
  pageToken?: string
}

export interface UsersUpdateInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. Default: the users belong to the organization. */
  documentId?: string
  /** Id of the folder. Send either this or `documentId`. */
  folderId?: string
  /** The users to change, with the fields to change. From 1 to 500 items. */
  users: MemberInput[]
}

export interface UsersDeleteInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the document. Default: the users belong to the organization. */
  documentId?: string
  /** Id of the folder. Send either this or `documentId`. */
  folderId?: string
  /** Ids of the users to remove. From 1 to 500 items. */
  userIds: string[]
}

/** The users of an organization, a folder or a document, with their roles. */
export interface UsersOperations {
  /**
   * Adds users to an organization, or to one of its documents or folders. With `documentId` or `folderId`,
   * users are added only there. For a user who is already there, the sent fields are merged into the profile.
   * Without `accessRole`, users get access, but a role that was sent elsewhere, such as `viewer` in a token,
   * still applies. The organization is created unless `createOrganization` is false.
   *
   * `POST /v2/users/add`
   */
  add(input: UsersAddInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Reads the users of an organization, or of its documents or folders. A user must match all filters.
   * `allDocuments` reads the users of every document, each once and without `accessRole`; with
   * `groupByDocumentId` they are listed by document. v1 has no pages and returns up to 10,000 users. Requires
   * the option `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/users/get`
   */
  get(input: UsersGetInput & { groupByDocumentId?: false }, options?: CallOptions): Promise<Result<User[]>>
  /**
   * Reads the users of an organization, or of its documents or folders. A user must match all filters.
   * `allDocuments` reads the users of every document, each once and without `accessRole`; with
   * `groupByDocumentId` they are listed by document. v1 has no pages and returns up to 10,000 users. Requires
   * the option `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/users/get`
   */
  get(input: UsersGetInput & { groupByDocumentId: true }, options?: CallOptions): Promise<Result<Record<string, User[]>>>
  /**
   * Reads the users of an organization, or of its documents or folders. A user must match all filters.
   * `allDocuments` reads the users of every document, each once and without `accessRole`; with
   * `groupByDocumentId` they are listed by document. v1 has no pages and returns up to 10,000 users. Requires
   * the option `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/users/get`
   */
  get(input: UsersGetInput, options?: CallOptions): Promise<Result<User[] | Record<string, User[]>>>
  /**
   * Lists the people of an organization, as other users of it see them. A person has a grant in the
   * organization: on it, or on one of its folders or documents. With a user token, the user must belong to
   * the organization too. Email addresses are not listed. The order is that of the ids. A page may have fewer
   * people than `pageSize` although others follow: read on while there is a `nextPageToken`. Requires the
   * option `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/users/list`
   */
  list(input: UsersListInput, options?: CallOptions): Promise<Result<Person[]>>
  /**
   * Changes the profiles of users. Sent fields are merged into the profile, which all organizations share;
   * `null` removes a field. `accessRole` changes only on the addressed level: the document, the folder or the
   * organization.
   *
   * `POST /v2/users/update`
   */
  update(input: UsersUpdateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Removes users from an organization, or from one of its documents or folders. A user who leaves the
   * organization also leaves its user groups and loses access to everything inside it. The profile is deleted
   * when the user belongs nowhere else. Tokens that were issued before no longer permit anything there.
   * Removing a user does not close a `public` document to the user, and documents are `public` by default: a
   * user without a grant can write there, even a former viewer. To exclude users without a grant, set
   * `accessType` to `restricted` with `documents.updateAccess`.
   *
   * `POST /v2/users/delete`
   */
  delete(input: UsersDeleteInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
}
