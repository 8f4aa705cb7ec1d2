import type { Table } from '../store/schema/tables.ts'
import type { StoredTable } from './stored-tables.ts'

/** Tables whose rows are not part of an export, and why. */
const leftOutTables: Partial<Record<Table, string>> = {
  signing_keys: 'They sign the user tokens of one installation.',
  pruned_events: 'They are positions in the event log of one installation.',
  event_log: 'It describes a database server.',
  event_names: 'They are for positions in the event log of one installation.',
  idempotency_keys: 'Their answers are encrypted, and kept for a day only.',
  login_links: 'They belong to the owner, and are valid for minutes.',
  address_calls: 'They are counted for an installation.',
  locks: 'They order the transactions of one database.',
  signals: 'They are for the servers of one database.',
  imports: 'They are imports into one installation.',
}

/** Columns that are not part of an export: secrets, and positions in the event log of one installation. */
const leftOutColumns: Partial<Record<Table, readonly string[]>> = {
  service_configs: ['secret'],
  webhook_endpoints: ['secret', 'previous_secret', 'previous_until'],
  events: ['event_id', 'transaction_id'],
}

/** Servers act on these rows, so they come after everything that they are about. */
const actedOn: readonly Table[] = ['deletions', 'jobs']

/** The tables and columns of an export, in the order of its lines. */
export function exportedTables(tables: readonly StoredTable[]): StoredTable[] {
  const exported = tables
    .filter(({ name }) => !(name in leftOutTables))
    .map((table) => ({ ...table, columns: exportedColumns(table) }))
  const isLast = ({ name }: StoredTable) => actedOn.includes(name)
  return [...exported.filter((table) => !isLast(table)), ...exported.filter(isLast)]
}

const exportedColumns = ({ name, columns }: StoredTable): StoredTable['columns'] =>
  Object.fromEntries(Object.entries(columns).filter(([column]) => !leftOutColumns[name]?.includes(column)))
