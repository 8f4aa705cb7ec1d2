import type { User } from '@plenum/protocol'
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { mapInTurns } from '../platform/loop-time.ts'
import type { Cursor, Db } from './db.ts'
import type { Level } from './grants.ts'
import { parse } from './json.ts'
import { toUser } from './profiles.ts'

export interface Filter {
  userIds?: readonly string[]
  /** Members of any of these groups. */
  groupIds?: readonly string[]
}

export interface Read {
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
  const createdAt = sql.ref<number>('grants.created_at')
  // A filter leaves few users. What is computed has no index, so they are found by their ids and then sorted, instead of
  // walking through all users in order.
  const order = [isFiltered(read) ? sql<number>`+ ${createdAt}` : createdAt, sql.ref('grants.user_id')]
  const query = withProfiles(live(db, apiKey, level, read).where('resource_id', '=', level.id))
  return mapInTurns(await inOrder(query, order, read).execute(), toMember)
}

const isFiltered = ({ filter }: Read) => filter.userIds !== undefined || filter.groupIds !== undefined

/** One page, behind the row whose values of the order are in `after`. */
function inOrder<D, T extends keyof D, O>(
  query: SelectQueryBuilder<D, T, O>,
  order: readonly RawBuilder<unknown>[],
  { after, limit }: Read,
): SelectQueryBuilder<D, T, O> {
  let page = query.limit(limit)
  if (after) page = page.where(sql<boolean>`(${sql.join(order)}) > (${sql.join(after)})`)
  for (const column of order) page = page.orderBy(column)
  return page
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
  user: Object.assign(toUser(user_id, parse(profile ?? '{}')), { accessRole: access_role }),
  resourceId: resource_id,
  createdAt: created_at,
})
