import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { joinParts, maxPartBytes } from '../engine/byte-parts.ts'
import type { Db } from '../engine/db.ts'
import { type Contents, type Key, keyOf } from './editors.ts'
import { prepared, sqliteOf } from '../engine/prepared.ts'
import type { EditorRef } from '../refs.ts'

export interface Update {
  seq: number
  bytes: Uint8Array
}

/** The bytes of a Yjs document: a snapshot, if there is one, and the updates after it, in order. */
export interface StoredLog extends Contents {
  /** Distinguishes the editor from one that is created under the same id after its deletion. */
  createdAt: number
  /** The number of the newest update. */
  seq: number
  /** The number of the newest update in the snapshot; 0 without a snapshot. */
  snapshotSeq: number
  snapshot: Uint8Array | null
  updates: Update[]
  /** Whether neither the snapshot nor an update is missing. */
  complete: boolean
  lastUpdated: number
  lastUpdatedBy: string
  sessionId: string | null
}

/** The snapshot and the updates after it, from which the document of an editor is built. */
export function partsOf({ snapshot, updates, complete }: StoredLog): Uint8Array[] {
  if (!complete) throw new Error('Updates are missing from the log.')
  const tail = updates.map(({ bytes }) => bytes)
  return snapshot ? [snapshot, ...tail] : tail
}

export interface EditorLog extends StoredLog {
  /** The users who own the Yjs client ids that wrote to this editor. */
  owners: Map<number, string>
}

/**
 * Reads the editor with its snapshot and, if they are not too large, its updates. All in one statement: between two statements
 * a compaction could move updates into the snapshot, so that neither statement sees them. The snapshot is the first row.
 */
const logQuery = (db: Db, key: Key, max: { snapshotBytes?: number; updateBytes: number; updates?: number }) =>
  db
    .selectFrom('editors')
    .leftJoin(
      (eb) =>
        eb
          .selectFrom('editor_snapshots')
          .select((eb) => [eb.lit<number>(0).as('at'), 'bytes', 'parts', 'snapshot_id'])
          .where((eb) => eb.and(key))
          .$if(max.snapshotBytes !== undefined, (some) =>
            some.where((eb) =>
              eb(eb.fn<number>('length', ['bytes']), '<=', eb.lit(max.snapshotBytes as number)),
            ),
          )
          .unionAll(
            eb
              .selectFrom('editor_updates')
              .select(['seq as at', 'bytes'])
              .select((eb) => [eb.lit<number>(1).as('parts'), sql<string | null>`null`.as('snapshot_id')])
              .where((eb) => eb.and(key))
              .where((eb) =>
                eb(
                  eb
                    .selectFrom('editor_updates')
                    .select((eb) => eb.fn.sum<number>(eb.fn('length', ['bytes'])).as('bytes'))
                    .where((eb) => eb.and(key)),
                  '<=',
                  eb.lit(max.updateBytes),
                ),
              )
              .$if(max.updates !== undefined, (some) =>
                some.where((eb) =>
                  eb(
                    eb
                      .selectFrom('editor_updates')
                      .select((eb) => eb.fn.countAll<number>().as('updates'))
                      .where((eb) => eb.and(key)),
                    '<=',
                    eb.lit(max.updates as number),
                  ),
                ),
              ),
          )
          .as('log'),
      (join) => join.onTrue(),
    )
    .select(['type', 'content_key', 'created_at', 'seq', 'snapshot_seq'])
    .select(['last_updated', 'last_updated_by', 'session_id'])
    .select(['log.at', 'log.bytes', 'log.parts', 'log.snapshot_id'])
    .where((eb) => eb.and(key))
    .orderBy('log.at')

const selectLog = prepared((db, key: Key) => logQuery(db, key, { updateBytes: maxPartBytes }))

/** As `selectLog`, without a snapshot or updates that are not small. */
const selectSmallLog = prepared((db, key: Key) => logQuery(db, key, maxSmall), { isSmallRead: true })

/** Most editors are smaller. On PostgreSQL, small editors are read together with other small reads. */
const maxSmall = { snapshotBytes: 16 * 1024, updateBytes: 16 * 1024, updates: 64 }

async function readRows(db: Db, key: Key): Promise<LogRow[]> {
  if (sqliteOf(db)) return selectLog(db, key)
  const rows = await selectSmallLog(db, key)
  const [editor] = rows
  if (!editor) return rows
  const { seq, snapshot_seq: snapshotSeq } = editor
  const hasSnapshot = snapshotSeq === 0 || rows.some(({ at }) => at === 0)
  const hasUpdates = rows.filter(({ at }) => at !== null && at > 0).length === seq - snapshotSeq
  return hasSnapshot && hasUpdates ? rows : selectLog(db, key)
}

type LogRow = Awaited<ReturnType<typeof selectLog>>[number]

/** A log that is read with several statements may be compacted in between. Then it is read again, up to this many times. */
const maxAttempts = 5

export async function read(db: Db, apiKey: string, ref: EditorRef): Promise<StoredLog | undefined> {
  const key = keyOf(apiKey, ref)
  for (let attempt = 1; ; attempt++) {
    const rows = await readRows(db, key)
    const [editor] = rows
    if (!editor) return undefined
    const log = await readRest(db, key, editor, rows)
    if (log.complete || attempt === maxAttempts) return log
  }
}

async function readRest(db: Db, key: Key, editor: LogRow, rows: readonly LogRow[]): Promise<StoredLog> {
  const { seq, snapshot_seq: snapshotSeq } = editor
  let updates: Update[] = []
  for (const { at, bytes } of rows) if (at && bytes) updates.push({ seq: at, bytes })
  if (updates.length === 0 && seq > snapshotSeq) updates = await readUpdates(db, key, snapshotSeq, seq)
  const snapshot = await readSnapshot(
    db,
    key,
    rows.find(({ at }) => at === 0),
  )
  return {
    type: editor.type,
    contentKey: editor.content_key,
    createdAt: editor.created_at,
    seq,
    snapshotSeq,
    snapshot,
    updates,
    complete: (snapshot !== null || snapshotSeq === 0) && areConsecutive(updates, snapshotSeq, seq),
    lastUpdated: editor.last_updated,
    lastUpdatedBy: editor.last_updated_by,
    sessionId: editor.session_id,
  }
}

/** Whether these are all updates after number `after`, up to and including number `upTo`. */
export const areConsecutive = (updates: readonly Update[], after: number, upTo: number) =>
  updates.length === upTo - after && updates.every(({ seq }, index) => seq === after + index + 1)

const selectSizes = prepared((db, { after, ...key }: Key & { after: number }) =>
  db
    .selectFrom('editor_updates')
    .select((eb) => ['seq', eb.fn<number>('length', ['bytes']).as('size')])
    .where((eb) => eb.and(key))
    .where('seq', '>', after)
    .orderBy('seq'),
)

/** The bytes of an update; null if they are too many for one statement. */
export const bytesIfSmall = sql<Uint8Array | null>`
  case when length(editor_updates.bytes) <= ${sql.lit(maxPartBytes)} then editor_updates.bytes end`
export const byteCount = sql<number>`length(editor_updates.bytes)`

const selectUpdates = prepared((db, { from, to, ...key }: Key & { from: number; to: number }) =>
  db
    .selectFrom('editor_updates')
    .select(['seq', bytesIfSmall.as('bytes'), byteCount.as('size')])
    .where((eb) => eb.and(key))
    .where('seq', '>=', from)
    .where('seq', '<=', to)
    .orderBy('seq'),
)

/** Reads updates that are together too large for one statement. */
async function readUpdates(db: Db, key: Key, after: number, upTo: number): Promise<Update[]> {
  const updates: Update[] = []
  const sizes = (await selectSizes(db, { ...key, after })).filter(({ seq }) => seq <= upTo)
  for (let first = 0, next = 0; first < sizes.length; first = next) {
    for (let bytes = 0; next < sizes.length; next++) {
      bytes += sizes[next]?.size ?? 0
      if (bytes > maxPartBytes && next > first) break
    }
    const [from, to] = [sizes[first]?.seq as number, sizes[next - 1]?.seq as number]
    for (const { seq, bytes, size } of await selectUpdates(db, { ...key, from, to })) {
      const whole = bytes ?? (await readLargeUpdate(db, key, seq, size))
      if (whole) updates.push({ seq, bytes: whole })
    }
    await setImmediate()
  }
  return updates
}

const selectPiece = prepared((db, { seq, from, ...key }: Key & { seq: number; from: number }) =>
  db
    .selectFrom('editor_updates')
    .select(sql<Uint8Array>`substr(bytes, cast(${from} as integer), ${sql.lit(maxPartBytes)})`.as('bytes'))
    .where((eb) => eb.and(key))
    .where('seq', '=', seq),
)

/** Reads an update in pieces: a backend may write 10 MiB. Returns undefined if a compaction removed it in the meantime. */
export async function readLargeUpdate(
  db: Db,
  key: Key,
  seq: number,
  size: number,
): Promise<Uint8Array | undefined> {
  const whole = new Uint8Array(size)
  for (let at = 0; at < size; at += maxPartBytes) {
    const [piece] = await selectPiece(db, { ...key, seq, from: at + 1 })
    if (!piece) return undefined
    whole.set(piece.bytes, at)
    await setImmediate()
  }
  return whole
}

const selectPart = prepared((db, { snapshotId, part, ...key }: Key & { snapshotId: string; part: number }) =>
  db
    .selectFrom('editor_snapshot_parts')
    .select('bytes')
    .where((eb) => eb.and(key))
    .where('snapshot_id', '=', snapshotId)
    .where('part', '=', part),
)

/** Returns null if there is no snapshot, or if parts of it are missing. */
async function readSnapshot(db: Db, key: Key, row: LogRow | undefined): Promise<Uint8Array | null> {
  const { bytes, parts, snapshot_id: snapshotId } = row ?? {}
  if (!bytes) return null
  return joinParts(bytes, parts ?? 1, async (part) => {
    const [found] = await selectPart(db, { ...key, snapshotId: snapshotId ?? '', part })
    return found?.bytes
  })
}

/** Reading this many rows takes about 5 ms. */
const maxOwnersPerStatement = 4_096

const selectOwners = prepared((db, { after, ...key }: Key & { after: number }) =>
  db
    .selectFrom('editor_clients')
    .select(['client_id', 'user_id'])
    .where((eb) => eb.and(key))
    .where('client_id', '>', after)
    .orderBy('client_id')
    .limit(maxOwnersPerStatement),
)

/** The users who own the Yjs client ids that wrote to the editor. There may be 100,000 of these ids. */
export async function readOwners(db: Db, apiKey: string, ref: EditorRef): Promise<Map<number, string>> {
  const owners = new Map<number, string>()
  const key = keyOf(apiKey, ref)
  for (let after = -1; ;) {
    const rows = await selectOwners(db, { ...key, after })
    for (const row of rows) owners.set(row.client_id, row.user_id)
    const last = rows.at(-1)
    if (last === undefined || rows.length < maxOwnersPerStatement) return owners
    after = last.client_id
    await setImmediate()
  }
}

export async function load(db: Db, apiKey: string, ref: EditorRef): Promise<EditorLog | undefined> {
  const log = await read(db, apiKey, ref)
  return log && { ...log, owners: await readOwners(db, apiKey, ref) }
}
