// Derived from the table of operations by "npm run derive". Do not edit.
import type { CallOptions, Result } from '../call.ts'
import type { Outcome } from './organizations.ts'

export interface FolderInput {
  /**
   * Id of the folder. At most 256 characters. Must not contain control characters and must not be ".", ".."
   * or "root".
   */
  folderId: string
  /** Name of the folder, for people. At most 1,000 characters. */
  folderName?: string
  /** Id of the folder above; `root` is the top. */
  parentFolderId?: string
  /**
   * Who may enter. `public`: every user. `organizationPrivate`: users with a grant for the organization, the
   * folder or the document. `restricted`: users with a grant at or below the folder or document that sets the
   * type.
   */
  accessType?: 'public' | 'restricted' | 'organizationPrivate'
}

export interface Folder {
  /** Id of the folder. */
  folderId: string
  /** Name of the folder, for people. */
  folderName: string
  /** Id of the organization. */
  organizationId: string
  /** `root` for a top-level folder. */
  parentFolderId: string
  /** Id of the API key. */
  apiKey: string
  /** When it was created, in milliseconds since 1970. */
  createdAt: number
  /** When it was last changed, in milliseconds since 1970. */
  lastUpdated: number
  /** From `root` down to the parent. */
  ancestors: string[]
  /**
   * Who may enter. `public`: every user. `organizationPrivate`: users with a grant for the organization, the
   * folder or the document. `restricted`: users with a grant at or below the folder or document that sets the
   * type.
   */
  accessType: 'public' | 'restricted' | 'organizationPrivate'
  /** Whether the `accessType` comes from the folder above. */
  inheritAccessFromParent: boolean
  /** Folders of the same form. Absent where there are none. */
  subFolders?: Folder[]
}

export interface FolderChange {
  /** Id of the folder. */
  folderId: string
  /** Name of the folder, for people. At most 1,000 characters. */
  folderName?: string
  /** Id of the folder above; `root` is the top. */
  parentFolderId?: string
}

export interface FoldersAddInput {
  /** Id of the organization. */
  organizationId: string
  /** Whether to create an organization that does not exist. */
  createOrganization?: boolean
  /** The folders. 1 to 500 items. */
  folders: FolderInput[]
}

export interface FoldersGetInput {
  /** Id of the organization. */
  organizationId: string
  /** Id of the folder. */
  folderId?: string
  /** How many levels of folders are read. 1 to 32. Ignored under v1. */
  maxDepth?: number
  /** Reads only the folders at the top. Ignored under v1. */
  rootFoldersOnly?: boolean
  /** How many are read at most. 1 to 1,000. Ignored under v1. */
  pageSize?: number
  /**
   * `nextPageToken` of the answer before, to read the next page. At most 4,096 characters. Ignored under v1.
   */
  pageToken?: string
}

export interface FoldersUpdateInput {
  /** Id of the organization. */
  organizationId: string
  /** The folders. 1 to 500 items. */
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
  /** Ids of the folders. 1 to 500 items. */
  folderIds: string[]
  /**
   * Who may enter. `public`: every user. `organizationPrivate`: users with a grant for the organization, the
   * folder or the document. `restricted`: users with a grant at or below the folder or document that sets the
   * type.
   */
  accessType?: 'public' | 'restricted' | 'organizationPrivate'
  /**
   * True: the folder takes the `accessType` of its parent again. Wins over `accessType`. Ignored under v1.
   */
  inheritFromParent?: boolean
}

/** Folders nest inside an organization, hold documents and may pass their access on. */
export interface FoldersOperations {
  /**
   * Adds folders, each at the top or inside another one. Folders are added in the order given, so a parent
   * may stand before its children in the same call. Without `accessType` a folder inherits from its parent;
   * at the top it has the default of the API key. Folders nest 32 levels deep.
   *
   * `POST /v2/organizations/folders/add`
   */
  add(input: FoldersAddInput, options?: CallOptions): Promise<Result<Record<string, Outcome>>>
  /**
   * Reads the folders of an organization, all or one with what is inside it. Without `folderId` all folders
   * are returned as a flat list; with `maxDepth` or `rootFoldersOnly` the top-level ones, nested to that
   * depth. With `folderId` that folder is returned with its `subFolders`, one level unless `maxDepth` says
   * more. Everything that is asked for comes in one answer, unless `pageSize` is sent: then a page has that
   * many folders of the outermost list, which is the list of all folders, of the top-level ones, or with
   * `folderId` of its direct subfolders. An answer of more than 100,000 folders or 64 MiB is refused. Needs
   * the option `useAdvancedQueries` of the API key, which is on unless switched off.
   *
   * `POST /v2/organizations/folders/get`
   */
  get(input: FoldersGetInput, options?: CallOptions): Promise<Result<Folder[]>>
  /**
   * Renames folders and moves them. A moved folder takes everything inside it along; what inherits access
   * follows the new parent. `parentFolderId: "root"` moves it to the top.
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
   * Sets who may enter folders, or lets them inherit it. Everything inside that inherits follows.
   * `inheritFromParent: true` drops the own type and wins over `accessType`.
   *
   * `POST /v2/organizations/folders/access/update`
   */
  updateAccess(input: FoldersUpdateAccessInput, options?: CallOptions): Promise<Result<Record<string, {
  /** Whether it was done. */
  success: boolean
  /**
   * Who may enter. `public`: every user. `organizationPrivate`: users with a grant for the organization, the
   * folder or the document. `restricted`: users with a grant at or below the folder or document that sets the
   * type. One of `public`, `restricted`, `organizationPrivate`.
   */
  accessType?: 'public' | 'restricted' | 'organizationPrivate' | null
  /** True: the folder takes the `accessType` of its parent again. Wins over `accessType`. */
  inheritFromParent?: boolean
  /** What happened, for people. */
  message: string
}>>>
}
