import type { User } from '@plenum/protocol'
import type { Cursor, Db } from './db.ts'
import type { Level } from './grants.ts'
import { parse } from './json.ts'
import { toUser } from './profiles.ts'

export interface Filter {
  userIds?: readonly string[]
  /** Members of any of these groups. */
  groupIds?: readonly string[]
}

interface Read {
  filter: Filter
  limit: number
  after: Cursor | undefined
  now: number
}

/** A user with what the order of lists needs. */
export interface Member {
  user: User
  /** Where the user is. */
  resourceId: string
  createdAt: number
}

/** The users at a level, by the time they came, then id. */
export async function atLevel(db: Db, apiKey: string, level: Level, read: Read): Promise<Member[]> {
  let query = withProfiles(live(db, apiKey, level, read).where('resource_id', '=', level.id))
  if (read.after) {
    const [createdAt, userId] = read.after as [number, string]
    query = query.where((eb) =>
      eb(eb.refTuple('grants.created_at', 'grants.user_id'), '>', eb.tuple(createdAt, userId)),
    )
  }
  const rows = await query.orderBy('grants.created_at').orderBy('grants.user_id').limit(read.limit).execute()
  return rows.map(toMember)
}

/** The users of every document, document by document. */
export async function byDocument(
  db: Db,
  apiKey: string,
  { organizationId }: Level,
  read: Read,
): Promise<Member[]> {
  let query = withProfiles(live(db, apiKey, { organizationId, type: 'document' }, read))
  if (read.after) {
    const [documentId, createdAt, userId] = read.after as [string, number, string]
    query = query.where((eb) =>
      eb(
        eb.refTuple('resource_id', 'grants.created_at', 'grants.user_id'),
        '>',
        eb.tuple(documentId, createdAt, userId),
      ),
    )
  }
  const rows = await query
    .orderBy('resource_id')
    .orderBy('grants.created_at')
    .orderBy('grants.user_id')
    .limit(read.limit)
    .execute()
  return rows.map(toMember)
}

/** Each user of any document once, by the time of the first one; roles differ between documents and are left out. */
export async function ofDocuments(
  db: Db,
  apiKey: string,
  { organizationId }: Level,
  read: Read,
): Promise<Member[]> {
  const firsts = live(db, apiKey, { organizationId, type: 'document' }, read)
    .select(({ fn }) => ['grants.user_id', fn.min('grants.created_at').as('first_at')])
    .groupBy('grants.user_id')
  let query = db
    .selectFrom(firsts.as('firsts'))
    .leftJoin('users', (join) =>
      join.onRef('users.user_id', '=', 'firsts.user_id').on('users.api_key', '=', apiKey),
    )
    .select(['firsts.user_id', 'first_at', 'profile'])
  if (read.after) {
    const [firstAt, userId] = read.after as [number, string]
    query = query.where((eb) => eb(eb.refTuple('first_at', 'firsts.user_id'), '>', eb.tuple(firstAt, userId)))
  }
  const rows = await query.orderBy('first_at').orderBy('firsts.user_id').limit(read.limit).execute()
  return rows.map(({ user_id, first_at, profile }) => ({
    user: toUser(user_id, parse(profile ?? '{}')),
    resourceId: organizationId,
    createdAt: first_at,
  }))
}

/** Grants that count: of that kind, not expired, of users whom the filter lets through. */
function live(
  db: Db,
  apiKey: string,
  { organizationId, type }: Pick<Level, 'organizationId' | 'type'>,
  { filter: { userIds, groupIds }, now }: Read,
) {
  return db
    .selectFrom('grants')
    .where('grants.api_key', '=', apiKey)
    .where('grants.organization_id', '=', organizationId)
    .where('resource_type', '=', type)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', Math.floor(now / 1000))]))
    .where((eb) => {
      const conditions = []
      if (userIds) conditions.push(userIds.length > 0 ? eb('grants.user_id', 'in', userIds) : eb.lit(false))
      if (groupIds) {
        const members = eb
          .selectFrom('user_group_members')
          .select('user_group_members.user_id')
          .where('user_group_members.api_key', '=', apiKey)
          .where('user_group_members.organization_id', '=', organizationId)
          .where('group_id', 'in', groupIds)
        conditions.push(groupIds.length > 0 ? eb('grants.user_id', 'in', members) : eb.lit(false))
      }
      return eb.and(conditions)
    })
}

const withProfiles = (query: ReturnType<typeof live>) =>
  query
    .leftJoin('users', (join) =>
      join.onRef('users.api_key', '=', 'grants.api_key').onRef('users.user_id', '=', 'grants.user_id'),
    )
    .select(['grants.user_id', 'resource_id', 'access_role', 'grants.created_at', 'profile'])

type Row = Awaited<ReturnType<ReturnType<typeof withProfiles>['execute']>>[number]

const toMember = ({ user_id, resource_id, access_role, created_at, profile }: Row): Member => ({
  user: { ...toUser(user_id, parse(profile ?? '{}')), accessRole: access_role },
  resourceId: resource_id,
  createdAt: created_at,
})
