import { type RawBuilder, sql } from 'kysely'
import type { AnnotationRef } from './annotation.ts'

/** The columns that name an annotation, for `batched`. */
export const annotationKey = {
  api_key: 'text',
  organization_id: 'text',
  document_id: 'text',
  number: 'bigint',
} as const

export type KeyColumn = keyof typeof annotationKey

const columns = Object.keys(annotationKey) as KeyColumn[]

/** The rows of `batched` for these annotations. */
export const keysOf = (apiKey: string, organizationId: string, refs: readonly AnnotationRef[]) =>
  refs.map(({ documentId, number }) => ({
    api_key: apiKey,
    organization_id: organizationId,
    document_id: documentId,
    number,
  }))

/** A condition for the rows of `table` that belong to the annotation of the row. */
export const belongsTo = (table: string, row: Readonly<Record<KeyColumn, RawBuilder<unknown>>>) =>
  sql<boolean>`${sql.join(
    columns.map((column) => sql`${sql.ref(`${table}.${column}`)} = ${row[column]}`),
    sql` and `,
  )}`
