import { hash } from 'node:crypto'
import type { Db } from './db.ts'
import * as documents from './documents.ts'
import { parse } from './json.ts'

/** A value that everyone in a document shares, under a name of the caller's (spec 16.1). */
export interface LiveState {
  id: string
  liveStateDataId: string
  data: Record<string, unknown>
  lastUpdated: number
  updatedBy: { userId: string }
}

export async function find(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  liveStateDataId: string,
): Promise<LiveState | undefined> {
  const row = await inDocument(db, apiKey, organizationId, documentId)
    .where('live_state_data_id', '=', liveStateDataId)
    .executeTakeFirst()
  return row && toLiveState(row)
}

/** All of a document, by name. */
export async function list(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
): Promise<LiveState[]> {
  return (await inDocument(db, apiKey, organizationId, documentId).execute()).map(toLiveState)
}

/** Those of a document that changes after that one have set, by name. */
export async function listSince(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  seq: number,
): Promise<LiveState[]> {
  const rows = await inDocument(db, apiKey, organizationId, documentId).where('seq', '>', seq).execute()
  return rows.map(toLiveState)
}

/** A value to set, as an object in JSON. */
interface NewState {
  liveStateDataId: string
  json: string
  userId: string
}

/** The value as it will be read. */
export const valueOf = ({ liveStateDataId, json, userId }: NewState, now: number): LiveState =>
  toLiveState({ live_state_data_id: liveStateDataId, data: json, updated_by: userId, last_updated: now })

/** Sets the value and gives the number of the change; undefined if the document is gone. */
export async function put(
  db: Db,
  apiKey: string,
  organizationId: string,
  documentId: string,
  state: NewState,
  now: number,
): Promise<number | undefined> {
  const seq = await documents.countChange(db, apiKey, organizationId, documentId)
  if (seq === undefined) return undefined
  const value = { data: state.json, seq, updated_by: state.userId, last_updated: now }
  await db
    .insertInto('live_states')
    .values({
      api_key: apiKey,
      organization_id: organizationId,
      document_id: documentId,
      live_state_data_id: state.liveStateDataId,
      ...value,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['api_key', 'organization_id', 'document_id', 'live_state_data_id'])
        .doUpdateSet(value),
    )
    .execute()
  return seq
}

const inDocument = (db: Db, apiKey: string, organizationId: string, documentId: string) =>
  db
    .selectFrom('live_states')
    .select(['live_state_data_id', 'data', 'updated_by', 'last_updated'])
    .where('api_key', '=', apiKey)
    .where('organization_id', '=', organizationId)
    .where('document_id', '=', documentId)
    .orderBy('live_state_data_id')

type Row = Awaited<ReturnType<ReturnType<typeof inDocument>['execute']>>[number]

const toLiveState = (row: Row): LiveState => ({
  id: hash('sha256', row.live_state_data_id, 'hex').slice(0, 32),
  liveStateDataId: row.live_state_data_id,
  data: parse(row.data),
  lastUpdated: row.last_updated,
  updatedBy: { userId: row.updated_by },
})
