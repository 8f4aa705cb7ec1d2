import { version } from '../../start/version.ts'
import { migrations } from '../../store/migrations/index.ts'
import type { Table } from '../../store/schema/tables.ts'
import type { Row } from '../../transfer/row-pages.ts'

/** The lines of an export. docs/guides/export-format.md describes them. */

/** The first line. */
export interface ExportHeader {
  format: 'plenum-export'
  version: number
  /** The newest migration of the database. */
  schema: string
  /** The version of Plenum. */
  plenum: string
  createdAt: string
  workspaceId: string
  apiKeys: readonly string[]
}

/** A line between the first and the last. Bytes are base64. */
export interface ExportedRow {
  table: Table
  row: Readonly<Record<string, string | number | null>>
}

/** Secrets that an export does not have, so that they must be set again. */
export interface LeftOutSecrets {
  /** The services that have a credential. */
  services: readonly { apiKey: string; service: string }[]
  /** How many webhook endpoints there are. */
  endpoints: number
}

/** The last line, as `end`. */
export interface ExportEnd {
  /** How many rows each table has. */
  rows: Readonly<Partial<Record<Table, number>>>
  /** Of all lines before, with their line ends. */
  sha256: string
  leftOut: LeftOutSecrets
}

export const formatVersion = 1
export const currentSchema = Object.keys(migrations).at(-1) ?? ''

export function headerLine(of: Pick<ExportHeader, 'workspaceId' | 'apiKeys'>): string {
  const header: ExportHeader = {
    format: 'plenum-export',
    version: formatVersion,
    schema: currentSchema,
    plenum: version,
    createdAt: new Date().toISOString(),
    ...of,
  }
  return `${JSON.stringify(header)}\n`
}

export function rowLine(table: Table, row: Row): string {
  const entries = Object.entries(row).map(([column, value]) => [
    column,
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  ])
  return `${JSON.stringify({ table, row: Object.fromEntries(entries) })}\n`
}

export const endLine = (end: ExportEnd): string => `${JSON.stringify({ end })}\n`

/** Says what must be set again after an import. */
export function describeLeftOut({ services, endpoints }: LeftOutSecrets): string {
  return [
    'Secrets are not exported. After the import:',
    '  - backends and users need new tokens, because every installation signs its own',
    ...(endpoints > 0 ? ['  - webhook endpoints have new secrets: give them to the receivers'] : []),
    ...services.map(
      ({ apiKey, service }) => `  - set the credential of ${service} again, for API key ${apiKey}`,
    ),
  ].join('\n')
}
