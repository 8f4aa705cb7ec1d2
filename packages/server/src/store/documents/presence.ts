import { sql } from 'kysely'
import { ApiError, type PresenceStatus, type PresenceUser } from '@plenum/protocol'
import type { Db } from '../engine/db.ts'
import { deleteSome } from '../engine/some-rows.ts'
import { inLockOrder } from '../engine/lock-order.ts'
import { parse } from '../engine/json.ts'
import type { DocumentRef } from '../refs.ts'
import { type Look, lookOf } from '../users/profiles.ts'

/** A user in a document's presence list. */
export interface PresenceEntry {
  userId: string
  name?: string
  email?: string
  /** The look that the user's profile had when the entry was written. */
  look: Look
  /** The look that the backend sent. It is shown instead of that of the profile. */
  sentLook?: Partial<Look>
  /** JSON of an object. */
  data?: string
  status: PresenceStatus
  source: 'rest'
  lastUpdated: number
}

/** Entries that REST calls set have no heartbeat, so they expire this long after their last update (spec 15). */
export const retentionMs = 24 * 60 * 60 * 1000

/** Counts the entries of a document that have not expired, up to `max`. */
export async function count(
  db: Db,
  apiKey: string,
  ref: DocumentRef,
  now: number,
  max: number,
): Promise<number> {
  const { entries } = await db
    .selectFrom(unexpired(db, apiKey, ref, now).limit(max).as('present'))
    .select((eb) => eb.fn.countAll<number>().as('entries'))
    .executeTakeFirstOrThrow()
  return entries
}

/** Adds or replaces the entries of these users. */
export async function put(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
  users: readonly (PresenceUser & { look: Look })[],
  now: number,
): Promise<void> {
  if (users.length === 0) return
  await db
    .insertInto('presence')
    .values(
      inLockOrder(users, (user) => user.userId).map(({ userId, status = 'online', look, ...sent }) => ({
        api_key: apiKey,
        organization_id: organizationId,
        document_id: documentId,
        user_id: userId,
        source: 'rest' as const,
        status,
        data: contentOf(userId, look, sent),
        last_updated: now,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['api_key', 'organization_id', 'document_id', 'user_id']).doUpdateSet((eb) => ({
        source: eb.ref('excluded.source'),
        status: eb.ref('excluded.status'),
        data: eb.ref('excluded.data'),
        last_updated: eb.ref('excluded.last_updated'),
      })),
    )
    .execute()
}

/** Limits the data of an entry, in bytes of JSON: a list of 1,000 entries is read at once. */
const maxDataBytes = 2048

function contentOf(userId: string, look: Look, sent: Partial<PresenceUser>): string {
  const { name, email, photoUrl, color, data } = sent
  if (data && Buffer.byteLength(JSON.stringify(data)) > maxDataBytes) {
    const message = `The data of user ${userId} must have at most ${maxDataBytes} bytes as JSON.`
    throw new ApiError('INVALID_ARGUMENT', message)
  }
  return JSON.stringify({ name, email, ...look, sentLook: { photoUrl, color }, ...(data && { data }) })
}

/** The entries of a document that have not expired, ordered by user id. */
export async function list(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  now: number,
): Promise<PresenceEntry[]> {
  return (await unexpired(db, apiKey, { organizationId, documentId }, now).execute()).map(toEntry)
}

/** The entries of these users that have not expired. */
export async function findMany(
  db: Db,
  apiKey: string,
  ref: DocumentRef,
  userIds: readonly string[],
  now: number,
): Promise<PresenceEntry[]> {
  if (userIds.length === 0) return []
  return (await unexpired(db, apiKey, ref, now).where('user_id', 'in', userIds).execute()).map(toEntry)
}

export async function remove(
  db: Db,
  apiKey: string,
  { organizationId, documentId }: DocumentRef,
  userIds: readonly string[],
): Promise<void> {
  await db
    .deleteFrom('presence')
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('user_id', 'in', userIds)
    .execute()
}

/** Removes expired entries of every tenant, at most `maxRows`. Returns their number. */
export const prune = (db: Db, now: number, maxRows: number): Promise<number> =>
  deleteSome(db, 'presence', sql`last_updated <= ${now - retentionMs}`, maxRows)

const unexpired = (db: Db, apiKey: string, { organizationId, documentId }: DocumentRef, now: number) =>
  db
    .selectFrom('presence')
    .select(['user_id', 'source', 'status', 'data', 'last_updated'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .where('last_updated', '>', now - retentionMs)
    .orderBy('user_id')

type Content = Pick<PresenceEntry, 'name' | 'email' | 'sentLook'> & Partial<Look> & { data?: object }

type Row = Awaited<ReturnType<ReturnType<typeof unexpired>['execute']>>[number]

function toEntry(row: Row): PresenceEntry {
  const { photoUrl, color, sentLook, data, ...names } = parse<Content>(row.data)
  return {
    ...names,
    look: lookOf(row.user_id, { photoUrl, color }),
    ...(sentLook && Object.keys(sentLook).length > 0 && { sentLook }),
    ...(data !== undefined && { data: JSON.stringify(data) }),
    userId: row.user_id,
    status: row.status,
    source: row.source,
    lastUpdated: row.last_updated,
  }
}
