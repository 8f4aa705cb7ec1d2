// Derived from the operation table by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../platform/call.ts'
import type { Outcome } from './organizations.ts'
import type { AccessType } from './api-key-config.ts'

export interface FolderInput {
  /**
   * Id of the folder. At most 256 characters. Must not contain control characters and must not be ".", ".."
   * or "root".
   */
  folderId: string
  /** Display name of the folder. Default: its id. At most 1,000 characters. */
  folderName?: string
  /** Id of the parent folder. Default: `root`, the top level. */
  parentFolderId?: string
  /**
   * Who has access. `public`: every user. `organizationPrivate`: users with a grant on the organization, the
   * folder or the document. `restricted`: users with a grant on the folder or document where the type was
   * set, or below it.
   */
  accessType?: AccessType
}

export interface Folder {
  /** Id of the folder. */
  folderId: string
  /** Display name of the folder. */
  folderName: string
  /** Id of the organization. */
  organizationId: string
  /** Id of the parent folder. `root` for a top-level folder. */
  parentFolderId: string
  /** Id of the API key that the folder belongs to. */
  apiKey: string
  /** Time of creation, as Unix time in milliseconds. */
  createdAt: number
  /** Time of the last change, as Unix time in milliseconds. */
  lastUpdated: number
  /** Ids from `root` down to the parent folder. */
  ancestors: string[]
  /** The access type that applies, set or inherited. */
  accessType: AccessType
  /** Whether the folder inherits `accessType` from its parent. */
  inheritAccessFromParent: boolean
  /** The subfolders, in the same form. Absent if there are none. */
  subFolders?: Folder[]
}

export interface FolderChange {
  /** Id of the folder. */
  folderId: string
  /** New display name of the folder. At most 1,000 characters. */
  folderName?: string
  /** Id of the new parent folder. `root` moves the folder to the top level. */
  parentFolderId?: string
}

export interface FolderAccessOutcome {
  /** Whether the operation succeeded for this item. */
  success: boolean
  /** The new access type of the folder. `null` if the folder inherits it. */
  accessType?: AccessType | null
  /** Whether the folder now inherits `accessType` from its parent. */
  inheritFromParent?: boolean
  /** What happened to this item. */
  message: string
}

export interface FoldersAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Whether to create the organization if it does not exist. Default: false. */
  createOrganization?: boolean
  /** The folders to add, parents before their children. From 1 to 500 items. */
  folders: FolderInput[]
}

export interface FoldersGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the folder to read with its subfolders. Default: all folders. */
  folderId?: string
  /** How many levels of subfolders to read. Default: 1. From 1 to 32. Ignored under v1. */
  maxDepth?: number
  /** Reads only the top-level folders. Ignored under v1. */
  rootFoldersOnly?: boolean
  /** Maximum number of items on the page. From 1 to 1,000. Ignored under v1. */
  pageSize?: number
  /**
   * The page to read: the `nextPageToken` of the previous page. At most 4,096 characters. Ignored under v1.
   */
  pageToken?: string
}

export interface FoldersUpdateInput {
  /** Id of the organization. */
  organizationId: string
  /** The folders to change. From 1 to 500 items. */
  folders: FolderChange[]
}

export interface FoldersDeleteInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the folder. */
  folderId: string
}

export interface FoldersUpdateAccessInput {
  /** Id of the organization. */
  organizationId: string
  /** Ids of the folders to change. From 1 to 500 items. */
  folderIds: string[]
  /**
   * Who has access. `public`: every user. `organizationPrivate`: users with a grant on the organization, the
   * folder or the document. `restricted`: users with a grant on the folder or document where the type was
   * set, or below it.
   */
  accessType?: AccessType
  /**
   * True: the folder inherits `accessType` from its parent again. Takes precedence over `accessType`. Ignored
   * under v1.
   */
  inheritFromParent?: boolean
}

/** Folders contain documents and other folders, and pass their access type on to them. */
export interface FoldersOperations {
  /**
   * Adds folders at the top level or inside other folders. Folders are added in the given order, so a parent
   * can come before its children in the same call. Without `accessType`, a folder inherits from its parent,
   * and a top-level folder gets the default of the API key. Folders nest up to 32 levels deep.
   *
   * `POST /v2/organizations/folders/add`
   */
  add(input: FoldersAddInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Reads all folders of an organization, or one folder with its subfolders. Without `folderId`, the answer
   * is a flat list of all folders; with `maxDepth` or `rootFoldersOnly`, the answer has the top-level
   * folders, nested to that depth. With `folderId`, the answer is that folder with its `subFolders`, one
   * level deep unless `maxDepth` is sent. Without `pageSize`, everything comes in one answer. With
   * `pageSize`, a page has that many folders of the outermost list: all folders, the top-level folders, or
   * the direct subfolders of `folderId`. An answer of more than 100,000 folders or 64 MiB is refused.
   * Requires the option `useAdvancedQueries` of the API key, which is on by default.
   *
   * `POST /v2/organizations/folders/get`
   */
  get(input: FoldersGetInput, options?: CallOptions): Promise<Result<Folder[]>>
  /**
   * Renames and moves folders. A folder moves with everything inside it, and inherited access follows the new
   * parent. `parentFolderId: "root"` moves a folder to the top level.
   *
   * `POST /v2/organizations/folders/update`
   */
  update(input: FoldersUpdateInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Deletes a folder with its subfolders and their documents.
   *
   * `POST /v2/organizations/folders/delete`
   */
  delete(input: FoldersDeleteInput, options?: CallOptions): Promise<Result<null>>
  /**
   * Sets the access type of folders, or lets them inherit it. Folders and documents inside that inherit get
   * the new type too. `inheritFromParent: true` removes the folder's own type and takes precedence over
   * `accessType`.
   *
   * `POST /v2/organizations/folders/access/update`
   */
  updateAccess(input: FoldersUpdateAccessInput, options?: CallOptions): Promise<Result<Record<string, FolderAccessOutcome>>>
}
