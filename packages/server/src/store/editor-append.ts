import { sql } from 'kysely'
import { batched } from './batched.ts'
import type { Db } from './db.ts'
import { type Contents, type Key, keyOf, type Place, type Writer } from './editors.ts'
import { inLockOrder } from './lock-order.ts'

/** An update to append. */
export interface Entry {
  apiKey: string
  place: Place
  update: Uint8Array
  writer: Writer
  /** What an editor holds that is made if there is none; null: it must be there. */
  create: Contents | null
  /** The one that was loaded: another editor under the same id counts as gone. */
  createdAt?: number
  /** Client ids that write here for the first time. */
  owners: readonly (readonly [clientId: number, userId: string])[]
}

const keyColumns = {
  api_key: 'text',
  organization_id: 'text',
  document_id: 'text',
  editor_id: 'text',
} as const
type KeyColumn = keyof typeof keyColumns

const keyNames = sql.join(Object.keys(keyColumns).map((column) => sql.ref(column)))
/** SQLite names no other table in what is returned, so rows are told apart by their key. */
const newSeq = sql`${sql.join(Object.keys(keyColumns).map((column) => sql.ref(`editors.${column}`)))}, editors.seq`

const advance = batched<KeyColumn | 'user_id' | 'session_id' | 'created_at' | 'now', Key & { seq: number }>(
  { ...keyColumns, user_id: 'text', session_id: 'text', created_at: 'bigint', now: 'bigint' },
  ({ row, rows, dialect }) => sql`
    update editors
    set seq = editors.seq + 1, last_updated = ${row.now}, last_updated_by = ${row.user_id}, session_id = ${row.session_id}
    from ${
      dialect === 'sqlite'
        ? rows
        : // Two servers that append to the same editors take their rows in one order.
          sql`(select r.* from ${rows} join editors using (${keyNames}) order by ${keyNames} for no key update of editors) r`
    }
    where editors.api_key = ${row.api_key} and editors.organization_id = ${row.organization_id}
      and editors.document_id = ${row.document_id} and editors.editor_id = ${row.editor_id}
      and (${row.created_at} is null or editors.created_at = ${row.created_at})
    returning ${newSeq}`,
)

const create = batched<
  KeyColumn | 'type' | 'content_key' | 'user_id' | 'session_id' | 'now',
  Key & { seq: number }
>(
  {
    ...keyColumns,
    type: 'text',
    content_key: 'text',
    user_id: 'text',
    session_id: 'text',
    now: 'bigint',
  },
  ({ row, rows }) => sql`
    insert into editors (${keyNames}, type, content_key, seq, snapshot_seq, last_updated, last_updated_by, session_id, created_at)
    select ${row.api_key}, ${row.organization_id}, ${row.document_id}, ${row.editor_id}, ${row.type}, ${row.content_key},
      1, 0, ${row.now}, ${row.user_id}, ${row.session_id}, ${row.now}
    from ${rows} join documents on documents.api_key = ${row.api_key}
      and documents.organization_id = ${row.organization_id} and documents.document_id = ${row.document_id}
    where true
    on conflict do nothing
    returning ${newSeq}`,
)

const insertUpdates = batched<KeyColumn | 'seq' | 'bytes' | 'user_id' | 'now'>(
  { ...keyColumns, seq: 'bigint', bytes: 'bytea', user_id: 'text', now: 'bigint' },
  ({ row, rows }) => sql`
    insert into editor_updates (${keyNames}, seq, bytes, user_id, created_at)
    select ${row.api_key}, ${row.organization_id}, ${row.document_id}, ${row.editor_id},
      ${row.seq}, ${row.bytes}, ${row.user_id}, ${row.now}
    from ${rows}`,
)

const insertOwners = batched<KeyColumn | 'client_id' | 'user_id'>(
  { ...keyColumns, client_id: 'bigint', user_id: 'text' },
  ({ row, rows }) => sql`
    insert into editor_clients (${keyNames}, client_id, user_id)
    select ${row.api_key}, ${row.organization_id}, ${row.document_id}, ${row.editor_id}, ${row.client_id}, ${row.user_id}
    from ${rows}
    where true
    on conflict do nothing`,
)

/**
 * Appends each update to the log of its editor and tells its number; undefined where the editor, or the document that one
 * would be made in, is gone. For any number of editors of any tenants at once.
 */
export async function append(
  db: Db,
  entries: readonly Entry[],
  now: number,
): Promise<(number | undefined)[]> {
  const numbers = new Map<Entry, number>()
  let waiting = entries
  while (waiting.length > 0) {
    const round = new Map<string, Entry>()
    const later: Entry[] = []
    for (const entry of waiting) {
      const id = idOf(keyOf(entry.apiKey, entry.place))
      if (round.has(id)) later.push(entry)
      else round.set(id, entry)
    }
    await appendRound(db, round, now, numbers)
    waiting = later
  }
  return entries.map((entry) => numbers.get(entry))
}

const idOf = (key: Key) => JSON.stringify([key.api_key, key.organization_id, key.document_id, key.editor_id])

/** At most one for each editor. */
async function appendRound(
  db: Db,
  entries: ReadonlyMap<string, Entry>,
  now: number,
  numbers: Map<Entry, number>,
): Promise<void> {
  const ordered = inLockOrder(entries, ([id]) => id).map(([, entry]) => entry)
  const common = ({ apiKey, place, writer }: Entry) => ({
    ...keyOf(apiKey, place),
    user_id: writer.userId,
    session_id: writer.sessionId,
    now,
  })
  const note = (rows: readonly (Key & { seq: number })[]) => {
    for (const row of rows) numbers.set(entries.get(idOf(row)) as Entry, row.seq)
  }
  note(
    await advance(
      db,
      ordered.map((entry) => ({ ...common(entry), created_at: entry.createdAt ?? null })),
    ),
  )
  note(
    await create(
      db,
      ordered.flatMap((entry) =>
        entry.create === null || numbers.has(entry)
          ? []
          : { ...common(entry), type: entry.create.type, content_key: entry.create.contentKey },
      ),
    ),
  )
  const written = ordered.flatMap((entry) => {
    const seq = numbers.get(entry)
    return seq === undefined ? [] : { entry, seq }
  })
  await insertUpdates(
    db,
    written.map(({ entry, seq }) => ({ ...common(entry), seq, bytes: entry.update })),
  )
  await insertOwners(
    db,
    written.flatMap(({ entry }) =>
      entry.owners.map(([clientId, userId]) => ({
        ...keyOf(entry.apiKey, entry.place),
        client_id: clientId,
        user_id: userId,
      })),
    ),
  )
}
