import { createHash } from 'node:crypto'
import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { readSettings } from '../../start/settings.ts'
import type { Db } from '../../store/engine/db.ts'
import * as imports from '../../store/imports.ts'
import type { Table } from '../../store/schema/tables.ts'
import * as workspaces from '../../store/workspaces.ts'
import { exportedTables } from '../../transfer/exported-tables.ts'
import { countRows, readRows, type Scope } from '../../transfer/row-pages.ts'
import { readTables, type StoredTable } from '../../transfer/stored-tables.ts'
import { syncFile } from '../backups/database-files.ts'
import { withSnapshot } from '../database.ts'
import type { ExportOptions } from '../export.ts'
import { CommandError } from '../failure.ts'
import { say, showProgress } from '../output.ts'
import {
  describeLeftOut,
  endLine,
  type ExportEnd,
  headerLine,
  type LeftOutSecrets,
  rowLine,
} from './export-format.ts'

/** Writes one snapshot of the workspace. The file gets its name when it is complete and on disk. */
export async function exportWorkspace({ workspace, to }: ExportOptions): Promise<void> {
  const { config } = readSettings()
  const file = resolve(to)
  if (existsSync(file)) throw new CommandError(`${file} exists already. Choose another name.`)
  const partial = `${file}.partial`
  try {
    const end = await withSnapshot(config, (db) => writeExport(db, workspace, partial, file.endsWith('.gz')))
    syncFile(partial)
    if (existsSync(file)) throw new CommandError(`${file} exists already. Choose another name.`)
    renameSync(partial, file)
    syncFile(file)
    const count = Object.values(end.rows).reduce((sum, rows) => sum + rows, 0)
    say(`${count} rows of the workspace. Rows of the installation, such as signing keys, are not exported.`)
    say(describeLeftOut(end.leftOut))
    console.log(file)
  } finally {
    rmSync(partial, { force: true })
  }
}

/** Rows of a table that belong to the workspace. */
interface Part {
  table: StoredTable
  scope: Scope
}

/** An error names at most this many workspaces. */
const maxListedWorkspaces = 20

async function missingWorkspace(db: Db, workspaceId: string): Promise<CommandError> {
  const ids = await workspaces.someIds(db, maxListedWorkspaces + 1)
  const listed = ids.slice(0, maxListedWorkspaces).join(', ') || 'none'
  const more = ids.length > maxListedWorkspaces ? ' and more (plenum list prints all)' : ''
  return new CommandError(`There is no workspace ${workspaceId}. Workspaces: ${listed}${more}.`)
}

async function writeExport(
  db: Db,
  workspaceId: string,
  file: string,
  isCompressed: boolean,
): Promise<ExportEnd> {
  if (!(await workspaces.find(db, workspaceId))) throw await missingWorkspace(db, workspaceId)
  if (await imports.find(db, workspaceId))
    throw new CommandError(`An import of the workspace ${workspaceId} was interrupted. Finish it first.`)
  const apiKeys = (await workspaces.apiKeys(db, workspaceId)).map(({ apiKey }) => apiKey)
  const parts = partsOf(exportedTables(await readTables(db)), workspaceId, apiKeys)
  const services = await findCredentials(db, apiKeys)
  let total = 0
  for (const { table, scope } of parts) total += await countRows(db, table, scope)

  const progress = showProgress('Exporting')
  const rows: Partial<Record<Table, number>> = {}
  let done = 0
  async function* lines(): AsyncGenerator<string> {
    yield headerLine({ workspaceId, apiKeys })
    for (const { table, scope } of parts) {
      for await (const page of readRows(db, table, scope)) {
        yield page.map((row) => rowLine(table.name, row)).join('')
        rows[table.name] = (rows[table.name] ?? 0) + page.length
        progress.update((done += page.length), total)
      }
    }
  }
  const hash = createHash('sha256')
  const endOf = (): ExportEnd => ({
    rows,
    sha256: hash.copy().digest('hex'),
    leftOut: { services, endpoints: rows.webhook_endpoints ?? 0 },
  })
  async function* withEnd(): AsyncGenerator<string> {
    for await (const text of lines()) {
      hash.update(text)
      yield text
    }
    yield endLine(endOf())
  }
  const target = createWriteStream(file, { mode: 0o600 })
  await pipeline([Readable.from(withEnd()), ...(isCompressed ? [createGzip()] : []), target])
  progress.end()
  if (done !== total) throw new Error(`${total} rows were counted, but ${done} were read.`)
  return endOf()
}

/** All rows of the workspace, in the order of the lines. */
function partsOf(tables: readonly StoredTable[], workspaceId: string, apiKeys: readonly string[]): Part[] {
  return tables.flatMap((table): Part[] =>
    'workspace_id' in table.columns
      ? [{ table, scope: { workspace_id: workspaceId } }]
      : apiKeys.map((apiKey) => ({ table, scope: { api_key: apiKey } })),
  )
}

/** The services with a credential, which is not exported. */
async function findCredentials(db: Db, apiKeys: readonly string[]): Promise<LeftOutSecrets['services']> {
  const found: { apiKey: string; service: string }[] = []
  for (const apiKey of apiKeys) {
    const rows = await db
      .selectFrom('service_configs')
      .select('service')
      .where('api_key', '=', apiKey)
      .where('secret', 'is not', null)
      .execute()
    for (const { service } of rows) found.push({ apiKey, service })
  }
  return found
}
