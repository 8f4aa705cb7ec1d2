import { sealContexts } from '../../access/credentials/seal-contexts.ts'

/** A column with sealed values. */
export interface SealedColumn {
  table: string
  /** The primary key, whose columns are the arguments of `contextOf`. */
  key: readonly string[]
  column: string
  contextOf(...key: string[]): string
}

/** All of them, except the login links in jobs. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'signing_keys', key: ['key_id'], column: 'private_jwk', contextOf: sealContexts.signingKey },
  {
    table: 'service_configs',
    key: ['api_key', 'service'],
    column: 'secret',
    contextOf: sealContexts.serviceCredential,
  },
  ...['secret', 'previous_secret'].map((column) => ({
    table: 'webhook_endpoints',
    key: ['api_key', 'endpoint_id'],
    column,
    contextOf: sealContexts.endpointSecret,
  })),
  { table: 'event_names', key: ['names_id'], column: 'secret', contextOf: sealContexts.eventNames },
  {
    table: 'idempotency_keys',
    key: ['scope', 'operation', 'idempotency_key'],
    column: 'response',
    contextOf: sealContexts.storedAnswer,
  },
]
