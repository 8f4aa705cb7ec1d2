import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { readSettings } from '../../start/settings.ts'
import type { Db } from '../../store/engine/db.ts'
import { isRefusedRow } from '../../store/engine/failures.ts'
import { slices } from '../../store/engine/slices.ts'
import type { SharedDatabase } from '../../store/engine/sqlite-beside.ts'
import * as imports from '../../store/imports.ts'
import type { Table } from '../../store/schema/tables.ts'
import * as workspaces from '../../store/workspaces.ts'
import { inserterFor } from '../../transfer/insert-rows.ts'
import type { Row } from '../../transfer/row-pages.ts'
import { RowsDigest } from '../../transfer/rows-digest.ts'
import { readTables } from '../../transfer/stored-tables.ts'
import { openOrCreate, secretsOf } from '../database.ts'
import { CommandError } from '../failure.ts'
import type { ImportOptions } from '../import.ts'
import { say, showProgress } from '../output.ts'
import { describeLeftOut, type ExportHeader } from './export-format.ts'
import { type Batch, type BatchLimits, importedColumns, ImportedRows } from './imported-rows.ts'
import { checkExport, refusal } from './read-export.ts'

/** One transaction. On SQLite, the event loop of a running server may wait for it. */
const batchLimits: Record<SharedDatabase['dialect'], BatchLimits> = {
  sqlite: { rows: 200, bytes: 256 * 1024 },
  postgres: { rows: 1000, bytes: 1024 * 1024 },
}

type Inserters = ReadonlyMap<Table, (db: Db, rows: readonly Row[]) => Promise<Row[]>>

/**
 * Adds the workspace of an export, in short transactions, each with a mark of how far the import is. So servers can run
 * meanwhile, and an import that was interrupted is continued.
 */
export async function importWorkspace({ from }: ImportOptions): Promise<void> {
  const { config } = readSettings()
  if (!existsSync(from)) throw new CommandError(`${from} does not exist.`)
  const database = await openOrCreate(config)
  try {
    const secrets = await secretsOf(config, database)
    // A server that is idle does not copy the log into the database file, so this connection does, after 16 MiB.
    if (database.dialect === 'sqlite') await sql`pragma wal_autocheckpoint = 4096`.execute(database.read)
    const columns = importedColumns(await readTables(database.read))
    const inserters: Inserters = new Map(
      [...columns].map(([table, names]) => [table, inserterFor(table, names, { returns: true })]),
    )
    const rowsOf = (header: ExportHeader) => new ImportedRows(from, header, columns, secrets)
    const { header, end, rowCount } = await checkExport(from, (found) => {
      const rows = rowsOf(found)
      return (line, number) => void rows.read(line, number)
    })
    const { workspaceId } = header
    let stored = await findStart(database.read, header, end.sha256)
    const progress = showProgress('Importing')
    for await (const batch of rowsOf(header).batches(stored, rowCount, batchLimits[database.dialect])) {
      const before = stored
      stored += batch.rowCount
      const began = performance.now()
      await database.write(async (db) => {
        if (before === 0) await requireNew(db, header)
        await insertBatch(db, inserters, batch, (reason) => refusal(from, reason))
        await mark(db, { workspaceId, sha256: end.sha256, lines: stored }, before, rowCount)
      })
      progress.update(stored, rowCount)
      // A server that waits for the lock of SQLite sleeps, and would find it taken again.
      if (database.dialect === 'sqlite') await pause(performance.now() - began)
    }
    progress.end()
    say(`${rowCount} rows, compared with the export.`)
    say(describeLeftOut(end.leftOut))
    say('Print the token of a backend with: plenum token --kind backend --api-key <id>')
    console.log(workspaceId)
  } finally {
    await database.close()
  }
}

/** How many rows an earlier, interrupted import has stored. */
async function findStart(db: Db, { workspaceId }: ExportHeader, sha256: string): Promise<number> {
  const begun = await imports.find(db, workspaceId)
  if (!begun) return 0
  if (begun.sha256 !== sha256) {
    throw new CommandError(
      `An import of another export of ${workspaceId} was interrupted. Finish it first, with the file with which it began.`,
    )
  }
  say(`Continuing an import that was interrupted after ${begun.lines} rows.`)
  return begun.lines
}

async function requireNew(db: Db, { workspaceId, apiKeys }: ExportHeader): Promise<void> {
  if (await workspaces.find(db, workspaceId))
    throw new CommandError(
      `The workspace ${workspaceId} exists already, so nothing was imported. Import it into another installation.`,
    )
  for (const ids of slices(apiKeys)) {
    const found = await db
      .selectFrom('api_keys')
      .select('api_key')
      .where('api_key', 'in', ids)
      .executeTakeFirst()
    if (found)
      throw new CommandError(
        `The API key ${found.api_key} exists already, in another workspace, so nothing was imported.`,
      )
  }
}

async function insertBatch(
  db: Db,
  inserters: Inserters,
  { byTable }: Batch,
  refuse: (reason: string) => CommandError,
): Promise<void> {
  for (const [table, rows] of byTable) {
    try {
      const stored = (await inserters.get(table)?.(db, rows)) ?? []
      if (digestOf(stored) !== digestOf(rows))
        throw refuse(`the database has not stored the rows of ${table} as they are`)
    } catch (error) {
      throw isRefusedRow(error)
        ? refuse(`the database refuses a row of ${table}: ${(error as Error).message}`)
        : error
    }
  }
}

function digestOf(rows: readonly Row[]): string {
  const digest = new RowsDigest()
  digest.add(rows)
  return digest.toString()
}

/** Records how far the import is, or that it is complete. */
async function mark(
  db: Db,
  progress: imports.ImportProgress,
  before: number,
  rowCount: number,
): Promise<void> {
  if (before === 0) await imports.add(db, progress, Date.now())
  else if (!(await imports.advance(db, progress, before)))
    throw new CommandError('Another process imports this workspace at the same time.')
  if (progress.lines === rowCount) await imports.remove(db, progress.workspaceId)
}
