/**
 * The visibility matrix: the annotations, the users, and who sees what by the rules 25.4 to 25.6. It shares no code with the
 * server.
 */

export const organizationId = 'org_1'
export const otherOrganizationId = 'org_2'

/** `open`: every user reads it. `closed`: members of the organization and users with a grant on the document read it. */
export const documents = { open: 'public', closed: 'organizationPrivate' } as const
export type DocumentId = keyof typeof documents
export const documentIds = Object.keys(documents) as DocumentId[]

interface User {
  /** The organization that the user is a member of. */
  memberOf?: string
  /** The role that the user has in both documents, by grants on them. */
  role?: 'editor' | 'viewer'
  /** The fields of the access context that the user holds. */
  fields?: readonly string[]
  /** Where the fields are held. Default: the organization of the documents. */
  fieldsIn?: string
  /** The grants are in the token, and are not stored. */
  isTokenOnly?: boolean
  /** What happens to the grants after the user was notified: they end, or the user is removed from the organization. */
  loses?: 'by time' | 'by removal'
}

const bothFields = ['team:red', 'level:2']

const users = {
  author: { memberOf: organizationId },
  named: { role: 'editor' },
  namedStranger: {},
  member: { memberOf: organizationId },
  editor: { role: 'editor' },
  viewer: { role: 'viewer' },
  holder: { memberOf: organizationId, fields: ['team:red'] },
  holderOfBoth: { role: 'editor', fields: bothFields },
  holderOfOther: { memberOf: organizationId, fields: ['team:blue', 'level:2'] },
  tokenHolder: { role: 'editor', fields: bothFields, isTokenOnly: true },
  ended: { memberOf: organizationId, fields: bothFields, loses: 'by time' },
  removed: { memberOf: organizationId, fields: bothFields, loses: 'by removal' },
  foreign: { memberOf: otherOrganizationId, fields: bothFields, fieldsIn: otherOrganizationId },
  stranger: {},
} satisfies Record<string, User>
export type UserId = keyof typeof users
export const userIds = Object.keys(users) as UserId[]
export const userOf = (id: UserId): User => users[id]

/** Who may see an annotation, as `visibility` and `context` of Add Comment Annotations say it. */
interface Fields {
  visibility?: {
    type: 'public' | 'organizationPrivate' | 'restricted'
    organizationId?: string
    userIds?: UserId[]
  }
  context?: { access: Record<string, string | number> }
}

interface Row {
  fields: Fields
  /** What replaces the fields after users were notified, or that the annotation is deleted then. */
  later?: Fields | 'deleted'
}

const onlyAuthor: Fields = { visibility: { type: 'restricted', userIds: ['author'] } }
const named: UserId[] = ['named', 'namedStranger', 'ended', 'removed']
const onlyNamed: Fields = { visibility: { type: 'restricted', userIds: named } }
const everyone: Fields = { visibility: { type: 'public' } }
const red: Fields = { context: { access: { team: 'red' } } }

export const rows = {
  public: { fields: {} },
  members: { fields: { visibility: { type: 'organizationPrivate' } } },
  foreigners: {
    fields: { visibility: { type: 'organizationPrivate', organizationId: otherOrganizationId } },
  },
  private: { fields: onlyAuthor },
  named: { fields: onlyNamed },
  oneField: { fields: red },
  twoFields: { fields: { context: { access: { team: 'red', level: 2 } } } },
  namedWithField: { fields: { ...onlyNamed, ...red } },
  restrictedLater: { fields: {}, later: onlyNamed },
  fieldLater: { fields: {}, later: red },
  openedLater: { fields: onlyAuthor, later: everyone },
  namedLater: { fields: onlyAuthor, later: onlyNamed },
  deleted: { fields: {}, later: 'deleted' },
  privateDeleted: { fields: onlyNamed, later: 'deleted' },
} satisfies Record<string, Row>
export type RowId = keyof typeof rows
export const rowIds = Object.keys(rows) as RowId[]
export const rowOf = (id: RowId): Row => rows[id]

type When = 'before' | 'after'

/** The grants and the annotations before or after they change, and whether the grants of the token count too. */
export interface Look {
  grants: When
  annotations: When
  with: 'token' | 'stored'
}

/** Recipients of notifications are found before anything changes, by stored grants (rule 18.7.1). */
const whenNotified: Look = { grants: 'before', annotations: 'before', with: 'stored' }
/** What a user reads with a token, and what a backend reads for a user. */
export const withToken: Look = { grants: 'after', annotations: 'after', with: 'token' }
export const withKey: Look = { grants: 'after', annotations: 'after', with: 'stored' }
/** Grants change first, so this is what an open document showed last. */
const justBefore: Look = { grants: 'after', annotations: 'before', with: 'token' }

function grantsOf(userId: UserId, look: Look): User {
  const user = userOf(userId)
  const isLost = user.loses !== undefined && look.grants === 'after'
  return isLost || (user.isTokenOnly && look.with === 'stored') ? {} : user
}

export function canRead(userId: UserId, documentId: DocumentId, look: Look): boolean {
  const { memberOf, role } = grantsOf(userId, look)
  return documents[documentId] === 'public' || memberOf === organizationId || role !== undefined
}

export const canWrite = (userId: UserId, documentId: DocumentId, look: Look): boolean =>
  canRead(userId, documentId, look) && grantsOf(userId, look).role !== 'viewer'

/** Whether the fields of the annotation admit the user. A deleted annotation keeps the fields that it had. */
function isInAudience(userId: UserId, id: RowId, look: Look): boolean {
  const { fields, later } = rowOf(id)
  const { visibility, context } =
    look.annotations === 'after' && later && later !== 'deleted' ? later : fields
  const { memberOf, fields: held = [], fieldsIn = organizationId } = grantsOf(userId, look)
  const isNamed =
    visibility === undefined ||
    visibility.type === 'public' ||
    visibility.userIds?.includes(userId) === true ||
    (visibility.type === 'organizationPrivate' && memberOf === (visibility.organizationId ?? organizationId))
  const needed = Object.entries(context?.access ?? {}).map(([key, value]) => `${key}:${value}`)
  const holdsAll = needed.every((field) => fieldsIn === organizationId && held.includes(field))
  return userId === 'author' || (isNamed && holdsAll)
}

export function sees(userId: UserId, documentId: DocumentId, id: RowId, look: Look): boolean {
  const isDeleted = look.annotations === 'after' && rowOf(id).later === 'deleted'
  return !isDeleted && canRead(userId, documentId, look) && isInAudience(userId, id, look)
}

export const seenBy = (userId: UserId, documentId: DocumentId, look: Look): RowId[] =>
  rowIds.filter((id) => sees(userId, documentId, id, look))

/** The annotations about which the user has a notification: it was delivered, and the user still sees the annotation. */
export function inboxOf(userId: UserId, documentId: DocumentId, look: Look): RowId[] {
  // A user who is removed from the organization loses the inbox there (rule 12.4.1).
  if (userOf(userId).loses === 'by removal' && look.grants === 'after') return []
  return seenBy(userId, documentId, look).filter((id) => sees(userId, documentId, id, whenNotified))
}

/** Activities about a deleted annotation stay for those who could see it (rule 21.2.2). */
export const activitiesOf = (userId: UserId, documentId: DocumentId, look: Look): RowId[] =>
  rowIds.filter((id) => canRead(userId, documentId, look) && isInAudience(userId, id, look))

/** What an open document is told while the annotations change (rule R54.1). */
export function liveChangesOf(userId: UserId, documentId: DocumentId) {
  const changing = rowIds.filter((id) => rowOf(id).later)
  const isSeen = (look: Look) => (id: RowId) => sees(userId, documentId, id, look)
  return {
    changed: changing.filter(isSeen(withToken)).sort(),
    removed: changing.filter((id) => isSeen(justBefore)(id) && !isSeen(withToken)(id)).sort(),
  }
}
