import { newEndpointSecret } from '../../access/credentials/endpoint-secrets.ts'
import type { Secrets } from '../../access/credentials/secrets.ts'
import type { ColumnType } from '../../store/engine/batched.ts'
import type { Value } from '../../store/engine/prepared.ts'
import type { Table } from '../../store/schema/tables.ts'
import { exportedTables } from '../../transfer/exported-tables.ts'
import type { Row } from '../../transfer/row-pages.ts'
import type { StoredTable } from '../../transfer/stored-tables.ts'
import type { ExportedRow, ExportHeader } from './export-format.ts'
import { linesOf, parseLine, refusal } from './read-export.ts'

/** Servers cache these, so they are complete when a server can find an API key. They are the first lines of an export. */
const settingsTables: readonly Table[] = [
  'workspaces',
  'api_keys',
  'auth_tokens',
  'allowed_domains',
  'service_configs',
  'webhook_endpoints',
]

/** Rows that are stored in one transaction. */
export interface Batch {
  byTable: Map<Table, Row[]>
  rowCount: number
}

export interface BatchLimits {
  rows: number
  bytes: number
}

/** The columns that an import stores: those of an export, and new secrets of endpoints. */
export function importedColumns(tables: readonly StoredTable[]): Map<Table, StoredTable['columns']> {
  return new Map(
    exportedTables(tables).map(({ name, columns }) => [
      name,
      name === 'webhook_endpoints' ? { ...columns, secret: 'bytea' } : columns,
    ]),
  )
}

/** Reads the rows of an export. Refuses one that is malformed or does not belong to the workspace. */
export class ImportedRows {
  readonly #file: string
  readonly #header: ExportHeader
  readonly #columns: ReturnType<typeof importedColumns>
  readonly #secrets: Secrets
  readonly #apiKeys: ReadonlySet<unknown>

  constructor(
    file: string,
    header: ExportHeader,
    columns: ReturnType<typeof importedColumns>,
    secrets: Secrets,
  ) {
    this.#file = file
    this.#header = header
    this.#columns = columns
    this.#secrets = secrets
    this.#apiKeys = new Set(header.apiKeys)
  }

  /** The rows after the first `skip`, up to `rowCount`. */
  async *batches(skip: number, rowCount: number, limits: BatchLimits): AsyncGenerator<Batch> {
    let batch: Batch = { byTable: new Map(), rowCount: 0 }
    let bytes = 0
    // The first line is the header, the last one the end.
    let number = -1
    for await (const line of linesOf(this.#file)) {
      number++
      if (number <= skip || number > rowCount) continue
      const { table, row } = this.read(line, number + 1)
      const isFull = batch.rowCount >= limits.rows || bytes + line.length > limits.bytes
      if (batch.rowCount > 0 && isFull && !settingsTables.includes(table)) {
        yield batch
        batch = { byTable: new Map(), rowCount: 0 }
        bytes = 0
      }
      const rows = batch.byTable.get(table)
      if (rows) rows.push(row)
      else batch.byTable.set(table, [row])
      batch.rowCount++
      bytes += line.length
    }
    if (batch.rowCount > 0) yield batch
  }

  /** `number` counts the lines of the file from 1. */
  read(line: Buffer, number: number): { table: Table; row: Row } {
    const refuse = (reason: string) => refusal(this.#file, `line ${number} ${reason}`)
    const { table, row } = parseLine<ExportedRow>(line) ?? {}
    const columns = table && this.#columns.get(table)
    if (!columns || typeof row !== 'object' || row === null) throw refuse('is not a row of a table')
    const isOwn =
      (!('api_key' in columns) || this.#apiKeys.has(row.api_key)) &&
      (!('workspace_id' in columns) || row.workspace_id === this.#header.workspaceId)
    if (!isOwn) throw refuse('is a row of another workspace')
    const unknown = Object.keys(row).find((column) => !Object.hasOwn(columns, column))
    if (unknown !== undefined) throw refuse(`has an unknown column ${unknown}`)
    const values = Object.entries(columns).map(([column, type]): [string, Value] => {
      if (table === 'webhook_endpoints' && column === 'secret') return [column, this.#newSecret(row)]
      const value = valueOf(type, row[column])
      if (value === undefined) throw refuse(`has a wrong value in ${column}`)
      return [column, value]
    })
    return { table, row: Object.fromEntries(values) }
  }

  #newSecret({ api_key, endpoint_id }: ExportedRow['row']): Uint8Array {
    return newEndpointSecret(this.#secrets, String(api_key), String(endpoint_id)).sealed
  }
}

/** Undefined: the value does not have the type. */
function valueOf(type: ColumnType, value: unknown): Value | undefined {
  if (value === null) return null
  if (type === 'bigint') return Number.isSafeInteger(value) ? (value as number) : undefined
  if (typeof value !== 'string') return undefined
  return type === 'bytea' ? Buffer.from(value, 'base64') : value
}
