import type { Table } from '../store/schema/tables.ts'

/** Tables that describe one database and its servers. Their rows mean nothing in another database. */
export const databaseTables: readonly Table[] = ['event_log', 'locks', 'signals']
